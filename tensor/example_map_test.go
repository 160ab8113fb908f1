package tensor_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A function that panics gives an error, which says where it did.
func ExampleMap_panic() {
	_, err := tensor.Map(table(2, 3), func(v int32) int32 { return 1 / (v - 2) })
	fmt.Println(err)
	// Output: element [0 2]: panic: runtime error: integer divide by zero
}

func ExampleTensor_CastInto() {
	pixels := tensor.Vector[uint8](0, 128, 255)
	batch := tensor.Must(tensor.Zeros[float32](2, 3))
	row := tensor.Must(batch.Index(ix.At(1))) // shares memory with batch
	fmt.Println(pixels.CastInto(row))
	fmt.Println(batch)
	// Output:
	// <nil>
	// float32 [2 3]
	// [[  0   0   0]
	//  [  0 128 255]]
}
