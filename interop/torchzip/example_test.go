package torchzip_test

import (
	"bytes"
	"fmt"

	"github.com/go-tensordict/tensordict/interop/torchzip"
	"github.com/go-tensordict/tensordict/tensor"
)

func Example() {
	var file bytes.Buffer
	x := tensor.Must(tensor.From([]float32{0, 1, 2, 3, 4, 5}, 2, 3))
	if err := torchzip.Write(&file, x); err != nil { // torch.load reads it
		fmt.Println(err)
		return
	}
	f, err := torchzip.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	y, err := f.Read()
	fmt.Println(f.Meta().DType(), f.Meta().Shape(), y.Equal(x), err)
	// Output: float32 [2 3] true <nil>
}
