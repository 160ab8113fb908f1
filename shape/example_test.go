package shape_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/shape"
)

// An operation is planned once, on the dims that several buffers share, and then located in each.
func ExampleShape_Check() {
	pixels := shape.Shape{4, 8, 8}
	fmt.Println(pixels.Check(), pixels.HasPrefix(shape.Shape{4}))
	fmt.Println(shape.Shape{4, -1}.Check())
	fmt.Println(pixels.CheckPrefix(shape.Shape{5}))
	fmt.Println(pixels.CheckEqual(shape.Shape{4, 8}))
	// Output:
	// <nil> true
	// shape mismatch: got [4 -1], want no negative size
	// shape mismatch: got [4 8 8], want a shape that begins with [5]
	// shape mismatch: got [4 8 8], want [4 8]
}

func ExampleShape_Dim() {
	fmt.Println(shape.Shape{4, 3}.Dim(-1))
	_, err := shape.Shape{4, 3}.Dim(2)
	fmt.Println(err, errors.Is(err, shape.ErrDim))
	// Output:
	// 1 <nil>
	// no such dim: got dim 2 of shape [4 3], want -2 to 1 true
}

func ExampleShape_Position() {
	fmt.Println(shape.Shape{4, 3}.Position(5))
	// Output: [1 2]
}

func ExampleBroadcast() {
	fmt.Println(shape.Broadcast(shape.Shape{4, 1}, shape.Shape{3}))
	_, err := shape.Broadcast(shape.Shape{4}, shape.Shape{3})
	fmt.Println(err)
	// Output:
	// [4 3] <nil>
	// shape mismatch: [4] and [3] do not broadcast
}

func ExampleContiguous() {
	v, err := shape.Contiguous(shape.Shape{4, 3})
	fmt.Println(v.Strides, v.IsContiguous(), err)
	// Output: [3 1] true <nil>
}

func ExampleView_Offsets() {
	v := shape.View{Shape: shape.Shape{3, 2}, Strides: []int{1, 3}}
	fmt.Println(slices.Collect(v.Offsets()), v.IsContiguous())
	fmt.Println(v.Bounds())
	// Output:
	// [0 3 1 4 2 5] false
	// 0 6
}

func ExampleView_At() {
	v := shape.View{Shape: shape.Shape{3, 2}, Strides: []int{1, 3}}
	fmt.Println(v.At(0, -1))
	_, err := v.At(0)
	fmt.Println(err)
	// Output:
	// 3 <nil>
	// bad index: got position [0], want one number for each dim of [3 2]
}
