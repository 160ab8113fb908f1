package ragged

import (
	"github.com/go-tensordict/tensordict/shapeops"
)

// Broadcast repeats each value of t for all rows or values that a deeper layout has in its place:
//
//	t [N *], layout [N * *] -> [N * *]: the day of a visit for each of its codes
//
// The outer levels of layout must equal the layout of t. The result is a copy. Broadcast returns
// [ErrLengths] if they differ, and shapeops.ErrDim if layout has fewer levels than t.
func (t *Tensor) Broadcast(layout *Layout) (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	if !layout.made() {
		return nil, errNoLayout
	}
	around, err := layout.At(t.Depth())
	if err != nil {
		return nil, err
	}
	if err := around.CheckEqual(t.layout); err != nil {
		return nil, err
	}
	values, err := t.Values()
	if err != nil {
		return nil, err
	}
	deep := layout.Compact()
	if t.Depth() == layout.depth {
		values, err = values.Clone()
		return finished(&Tensor{layout: deep, values: values}, err)
	}
	values, err = shapeops.RepeatEach(values, 0, deep.counts(t.Depth()))
	return finished(&Tensor{layout: deep, values: values}, err)
}
