package shapeops_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// An operation is planned once, on the dims that several buffers share, and then located in each.
func Example() {
	batch := shapeops.Shape{4}
	plan, err := batch.Index(ix.Range(1, 4).Step(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, shape := range []shapeops.Shape{{4}, {4, 3}} {
		whole, _ := shapeops.Contiguous(shape)
		part, _, err := plan.View(whole)
		fmt.Println(part.Shape, slices.Collect(part.Offsets()), err)
	}
	// Output:
	// [2] [1 3] <nil>
	// [2 3] [3 4 5 9 10 11] <nil>
}

// show prints the shape that a plan leads to, or the error.
func show(p *shapeops.Plan, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p)
}

func ExampleShape_Index() {
	s := shapeops.Shape{4, 3}
	show(s.Index(ix.At(-1)))
	show(s.Index(ix.Rest, ix.Range(1, ix.End), ix.New))
	show(s.Index(ix.Take(3, 0, 3)))
	show(s.Index(ix.At(4)))
	// Output:
	// [4 3] -> [3]
	// [4 3] -> [4 2 1]
	// [4 3] -> [3 3]
	// bad index: got position 4 of dim 0, want one of its 4
}

// Flatten and Unflatten name the dims that they join or cut; the others stay.
func ExampleShape_Reshape() {
	s := shapeops.Shape{4, 3}
	show(s.Reshape(2, shapeops.Infer))
	show(s.Reshape(5))
	show(shapeops.Shape{2, 3, 4}.Flatten(0, -2))
	show(shapeops.Shape{6, 4}.Unflatten(0, 2, shapeops.Infer))
	// Output:
	// [4 3] -> [2 6]
	// shape mismatch: got [5], want the 12 elements of [4 3]
	// [2 3 4] -> [6 4]
	// [6 4] -> [2 3 4]
}

func ExampleShape_Permute() {
	show(shapeops.Shape{2, 3, 4}.Permute(2, 0, 1))
	show(shapeops.Shape{2, 3, 4}.Transpose(0, -1))
	// Output:
	// [2 3 4] -> [4 2 3]
	// [2 3 4] -> [4 3 2]
}

func ExampleShape_Squeeze() {
	show(shapeops.Shape{1, 3, 1}.Squeeze())
	show(shapeops.Shape{1, 3, 1}.Squeeze(0, 1))
	show(shapeops.Shape{4, 3}.Unsqueeze(-1))
	// Output:
	// [1 3 1] -> [3]
	// [1 3 1] -> [3 1]
	// [4 3] -> [4 3 1]
}

func ExampleShape_Expand() {
	show(shapeops.Shape{3, 1}.Expand(2, shapeops.Infer, 4))
	// Output: [3 1] -> [2 3 4]
}

func ExampleShape_Check() {
	pixels := shapeops.Shape{4, 8, 8}
	fmt.Println(pixels.Check(), pixels.HasPrefix(shapeops.Shape{4}))
	fmt.Println(shapeops.Shape{4, -1}.Check())
	fmt.Println(pixels.CheckPrefix(shapeops.Shape{5}))
	fmt.Println(pixels.CheckEqual(shapeops.Shape{4, 8}))
	// Output:
	// <nil> true
	// shape mismatch: got [4 -1], want no negative size
	// shape mismatch: got [4 8 8], want a shape that begins with [5]
	// shape mismatch: got [4 8 8], want [4 8]
}

func ExampleShape_Dim() {
	fmt.Println(shapeops.Shape{4, 3}.Dim(-1))
	_, err := shapeops.Shape{4, 3}.Dim(2)
	fmt.Println(err, errors.Is(err, shapeops.ErrDim))
	// Output:
	// 1 <nil>
	// no such dim: got dim 2 of a shape [4 3], want one of 2 dims true
}

func ExampleShape_Position() {
	fmt.Println(shapeops.Shape{4, 3}.Position(5))
	// Output: [1 2]
}

func ExampleBroadcast() {
	fmt.Println(shapeops.Broadcast(shapeops.Shape{4, 1}, shapeops.Shape{3}))
	_, err := shapeops.Broadcast(shapeops.Shape{4}, shapeops.Shape{3})
	fmt.Println(err)
	// Output:
	// [4 3] <nil>
	// shape mismatch: [4] and [3] do not broadcast
}

func ExampleContiguous() {
	v, err := shapeops.Contiguous(shapeops.Shape{4, 3})
	fmt.Println(v.Strides, v.IsContiguous(), err)
	// Output: [3 1] true <nil>
}

func ExampleView_Offsets() {
	v := shapeops.View{Shape: shapeops.Shape{3, 2}, Strides: []int{1, 3}}
	fmt.Println(slices.Collect(v.Offsets()), v.IsContiguous())
	fmt.Println(v.Bounds())
	// Output:
	// [0 3 1 4 2 5] false
	// 0 6
}

func ExampleView_At() {
	v := shapeops.View{Shape: shapeops.Shape{3, 2}, Strides: []int{1, 3}}
	fmt.Println(v.At(0, -1))
	_, err := v.At(0)
	fmt.Println(err)
	// Output:
	// 3 <nil>
	// bad index: got position [0], want one number for each dim of [3 2]
}

func ExamplePlan_View() {
	whole, _ := shapeops.Contiguous(shapeops.Shape{2, 3})
	swap, _ := whole.Shape.Transpose(0, 1)
	turned, ok, err := swap.View(whole)
	fmt.Println(turned.Shape, turned.Strides, ok, err)

	join, _ := turned.Shape.Reshape(6)
	_, ok, err = join.View(turned) // would jump back and forth
	fmt.Println(ok, err)
	// Output:
	// [3 2] [1 3] true <nil>
	// false <nil>
}

func ExamplePlan_Extend() {
	plan, _ := shapeops.Shape{4}.Index(ix.At(0))
	fmt.Println(plan.From(), plan.Shape(), plan.Extend(shapeops.Shape{4, 8, 8}))
	// Output: [4] [] [8 8]
}

func ExamplePlan_Frame() {
	whole, _ := shapeops.Contiguous(shapeops.Shape{4, 3})
	plan, _ := whole.Shape.Index(ix.Take(3, 0))
	frame, err := plan.Frame(whole)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range frame.Rows {
		for at := range frame.Kept.Offsets() {
			fmt.Print(at+row*frame.Stride, " ")
		}
	}
	fmt.Println(plan.Shape())
	// Output: 9 10 11 0 1 2 [2 3]
}
