package arith_test

import (
	"fmt"
	"os"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Dataset is no Elementwise: its field TensorDict is.
func ExampleAdd_dataset() {
	dir := tensor.Must(os.MkdirTemp("", "arith"))
	defer os.RemoveAll(dir)
	if err := memmap.Save(dir, steps()); err != nil {
		fmt.Println(err)
	}
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	defer ds.Close()

	sum := tensor.Must(arith.Add(ds.TensorDict, 1)) // in memory
	fmt.Println(tdict.Slice[float32](sum, "reward"))
	fmt.Println(arith.AddInto(ds.TensorDict, ds.TensorDict, 100)) // in the files
	fmt.Println(tdict.Slice[float32](ds.TensorDict, "reward"))
	// Output:
	// [8 9 10] <nil>
	// <nil>
	// [107 108 109] <nil>
}
