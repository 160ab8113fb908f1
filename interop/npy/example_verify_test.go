package npy_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func ExampleVerify() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.npz")
	td := tdict.New(2)
	_ = td.Set("x", tensor.Vector[int64](1, 2))
	_ = npy.SaveDict(path, td)
	report, err := npy.Verify(context.Background(), path)
	fmt.Println(report.Members, report.Bytes, err)
	// Output:
	// 1 144 <nil>
}
