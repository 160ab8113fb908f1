package shapeops_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Work for four workers, as even as it can be.
func ExampleTensorSplit() {
	pieces, err := shapeops.TensorSplit(tensor.Vector[int8](0, 1, 2, 3, 4, 5), 0, 4)
	for _, piece := range pieces {
		fmt.Println(piece)
	}
	fmt.Println(err)
	// Output:
	// int8 [2]
	// [0 1]
	// int8 [2]
	// [2 3]
	// int8 [1]
	// [4]
	// int8 [1]
	// [5]
	// <nil>
}

// All but the last row, and the last.
func ExampleSplitAt() {
	pieces, err := shapeops.SplitAt(tensor.Vector[int8](0, 1, 2, 3), 0, -1)
	for _, piece := range pieces {
		fmt.Println(piece)
	}
	fmt.Println(err)
	// Output:
	// int8 [3]
	// [0 1 2]
	// int8 [1]
	// [3]
	// <nil>
}
