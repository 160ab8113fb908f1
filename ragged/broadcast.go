package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
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

// Positions returns the position of each value in its row of the last level, starting at 0: [N *]
// int64. It returns shapeops.ErrDim at depth 0.
func (t *Tensor) Positions() (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	if t.Depth() == 0 {
		return nil, fmt.Errorf("%w: got no level", shapeops.ErrDim)
	}
	l := t.layout.Compact()
	if err := checkListed(l.numbered()); err != nil {
		return nil, err
	}
	list := make([]int64, 0, l.numbered())
	for row := range l.offsets[1:] {
		for i := range l.offsets[row+1] - l.offsets[row] {
			list = append(list, i)
		}
	}
	return &Tensor{layout: l, values: tensor.Vector(list...)}, nil
}
