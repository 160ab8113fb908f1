package tensor_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// table returns the numbers 0, 1, 2 ... in rows and columns.
func table(rows, columns int) *tensor.Tensor {
	x := tensor.Must(tensor.Arange[int32](0, int32(rows*columns), 1))
	return tensor.Must(x.Reshape(rows, columns))
}

// printed prints a tensor, or the error.
func printed(x *tensor.Tensor, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(x)
}

// An image [H W C], as a decoder has it, becomes [C H W].
func ExampleTensor_Movedim() {
	image := tensor.Must(tensor.Zeros[uint8](480, 640, 3))
	fmt.Println(tensor.Must(image.Movedim(-1, 0)).Shape())
	// Output: [3 480 640]
}

// Unlike a range, a part that is not there is an error.
func ExampleTensor_Narrow() {
	x := tensor.Vector[int32](1, 2, 3, 4)
	printed(x.Narrow(0, 1, 2))
	printed(x.Narrow(0, 3, 2))
	// Output:
	// int32 [2]
	// [2 3]
	// narrow: bad index: got 2 positions from 3 of dim 0, want positions within its size 4
}

// The value of the action that was taken in each state.
func ExampleTensor_Gather() {
	values := tensor.Must(tensor.From([]float32{0.1, 0.9, 0.4, 0.3}, 2, 2))
	actions := tensor.Must(tensor.From([]int64{1, 0}, 2, 1))
	printed(values.Gather(1, actions))
	// Output:
	// float32 [2 1]
	// [[0.9]
	//  [0.4]]
}

// Labels as rows with a one at each.
func ExampleTensor_Scatter() {
	labels := tensor.Must(tensor.From([]int64{2, 0}, 2, 1))
	oneHot := tensor.Must(tensor.Zeros[uint8](2, 3))
	fmt.Println(oneHot.Scatter(1, labels, tensor.Scalar[uint8](1)))
	fmt.Println(oneHot)
	// Output:
	// <nil>
	// uint8 [2 3]
	// [[0 0 1]
	//  [1 0 0]]
}

func ExampleTensor_Take() {
	order := tensor.Vector[int64](2, 0, -1)
	printed(table(2, 3).Take(1, order))
	printed(table(2, 3).Take(1, tensor.Vector[int64](0, 3)))
	// Output:
	// int32 [2 3]
	// [[2 0 2]
	//  [5 3 5]]
	// take: element 1: bad index: got position 3 of dim 1, which has size 3
}

func ExampleTensor_MaskedSelect() {
	printed(table(2, 3).MaskedSelect(tensor.Vector(false, true)))
	// Output:
	// int32 [1 3]
	// [[3 4 5]]
}

// The first dim comes first; a negative size takes positions away.
func ExampleTensor_Pad() {
	printed(table(2, 2).Pad(-1, 0, 1))
	printed(table(2, 2).Pad(nil, -1, 0, 1, 0))
	printed(table(2, 2).Pad(0.5, 0, 1))
	// Output:
	// int32 [3 2]
	// [[ 0  1]
	//  [ 2  3]
	//  [-1 -1]]
	// int32 [1 3]
	// [[0 2 3]]
	// pad: padding: dtype mismatch: got 0.5, which int32 does not represent exactly
}

func ExampleScalarOf() {
	printed(tensor.ScalarOf(tensor.Float32, 7))
	printed(tensor.ScalarOf(tensor.Uint8, 300))
	// Output:
	// float32 [] 7
	// dtype mismatch: got 300, which is out of range for uint8
}

func ExampleTensor_Ints() {
	lengths := tensor.Vector[uint8](3, 1, 2)
	fmt.Println(lengths.Ints())
	// Output: [3 1 2] <nil>
}

func ExampleLengthMask() {
	printed(tensor.LengthMask([]int{1, 3}, shapeops.Shape{2, 3}, 1, false))
	// Output:
	// bool [2 3]
	// [[ true false false]
	//  [ true  true  true]]
}
