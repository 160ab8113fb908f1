package plan_test

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// An operation is planned once, on the dims that several buffers share, and then located in each.
func Example() {
	batch := shape.Shape{4}
	p, err := plan.Index(batch, ix.Range(1, 4).Step(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range []shape.Shape{{4}, {4, 3}} {
		whole, _ := shape.Contiguous(s)
		part, _, err := p.View(whole)
		fmt.Println(part.Shape, slices.Collect(part.Offsets()), err)
	}
	// Output:
	// [2] [1 3] <nil>
	// [2 3] [3 4 5 9 10 11] <nil>
}

// show prints the shape that a plan leads to, or the error.
func show(p *plan.Plan, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p)
}

func ExampleIndex() {
	s := shape.Shape{4, 3}
	show(plan.Index(s, ix.At(-1)))
	show(plan.Index(s, ix.Rest, ix.Range(1, ix.End), ix.New))
	show(plan.Index(s, ix.Take(3, 0, 3)))
	show(plan.Index(s, ix.At(4)))
	// Output:
	// [4 3] -> [3]
	// [4 3] -> [4 2 1]
	// [4 3] -> [3 3]
	// bad index: got position 4 of dim 0, which has size 4
}

// Flatten and Unflatten name the dims that they join or cut; the others stay.
func ExampleReshape() {
	s := shape.Shape{4, 3}
	show(plan.Reshape(s, 2, shape.Infer))
	show(plan.Reshape(s, 5))
	show(plan.Flatten(shape.Shape{2, 3, 4}, 0, -2))
	show(plan.Unflatten(shape.Shape{6, 4}, 0, 2, shape.Infer))
	// Output:
	// [4 3] -> [2 6]
	// shape mismatch: got [5], want 12 elements as in [4 3]
	// [2 3 4] -> [6 4]
	// [6 4] -> [2 3 4]
}

func ExamplePermute() {
	show(plan.Permute(shape.Shape{2, 3, 4}, 2, 0, 1))
	show(plan.Transpose(shape.Shape{2, 3, 4}, 0, -1))
	// Output:
	// [2 3 4] -> [4 2 3]
	// [2 3 4] -> [4 3 2]
}

func ExampleSqueeze() {
	show(plan.Squeeze(shape.Shape{1, 3, 1}))
	show(plan.Squeeze(shape.Shape{1, 3, 1}, 0, 1))
	show(plan.Unsqueeze(shape.Shape{4, 3}, -1))
	// Output:
	// [1 3 1] -> [3]
	// [1 3 1] -> [3 1]
	// [4 3] -> [4 3 1]
}

func ExampleExpand() {
	show(plan.Expand(shape.Shape{3, 1}, 2, shape.Infer, 4))
	// Output: [3 1] -> [2 3 4]
}

func ExamplePlan_View() {
	whole, _ := shape.Contiguous(shape.Shape{2, 3})
	swap, _ := plan.Transpose(whole.Shape, 0, 1)
	turned, ok, err := swap.View(whole)
	fmt.Println(turned.Shape, turned.Strides, ok, err)

	join, _ := plan.Reshape(turned.Shape, 6)
	_, ok, err = join.View(turned) // would jump back and forth
	fmt.Println(ok, err)
	// Output:
	// [3 2] [1 3] true <nil>
	// false <nil>
}

func ExamplePlan_Extend() {
	p, _ := plan.Index(shape.Shape{4}, ix.At(0))
	fmt.Println(p.From(), p.Shape(), p.Extend(shape.Shape{4, 8, 8}))
	// Output: [4] [] [8 8]
}

func ExamplePlan_Frame() {
	whole, _ := shape.Contiguous(shape.Shape{4, 3})
	p, _ := plan.Index(whole.Shape, ix.Take(3, 0))
	frame, err := p.Frame(whole)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range frame.Rows {
		for at := range frame.Kept.Offsets() {
			fmt.Print(at+row*frame.Stride, " ")
		}
	}
	fmt.Println(p.Shape())
	// Output: 9 10 11 0 1 2 [2 3]
}

// Rows are summed: their dim drops out, or is kept with the size 1.
func ExampleReduce() {
	batch := shape.Shape{4, 3}
	for _, keep := range []bool{false, true} {
		r, err := plan.Reduce(batch, keep, 0)
		if err != nil {
			fmt.Println(err)
			return
		}
		last := len(r.Shape()) - 1
		fmt.Println(r.Shape(), "the last dim was dim", r.Origin(last))
	}
	_, err := plan.Reduce(batch, false, 0, -2)
	fmt.Println(err)
	// Output:
	// [3] the last dim was dim 1
	// [1 3] the last dim was dim 1
	// no such dim: got dim 0 twice in [0 -2], want each dim of shape [4 3] at most once
}
