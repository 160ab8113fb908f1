package ragged

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// ArgSort returns the positions of the values of each row of the last level in sorted order, for
// [Tensor.Pick]. [N *] -> int64 [N *] with t's layout.
//
// The order is the order of arith.Lexsort: ascending, NaN last, equal values in their original
// order; opt can reverse it. ArgSort returns shapeops.ErrDim at depth 0, shapeops.ErrShape if
// values have features, and tensor.ErrDType if the dtype has no order.
func (t *Tensor) ArgSort(opt arith.SortOptions) (*Tensor, error) {
	s, err := t.sortable()
	if err != nil {
		return nil, errtext.Named("arg sort", err)
	}
	order, err := s.order(opt)
	if err != nil {
		return nil, err // of arith.ArgSort
	}
	positions := make([]int64, len(order))
	offsets := s.layout.offsets
	for row := range offsets[1:] {
		for i := offsets[row]; i < offsets[row+1]; i++ {
			positions[i] = int64(order[i]) - offsets[row]
		}
	}
	return &Tensor{layout: s.layout, values: tensor.Vector(positions...)}, nil
}

// Sort returns t with the values of each row of the last level sorted, in the order of
// [Tensor.ArgSort]: [N *] -> [N *], with t's layout.
func (t *Tensor) Sort(opt arith.SortOptions) (_ *Tensor, err error) {
	defer errtext.Name("sort", &err)
	s, err := t.sortable()
	if err != nil {
		return nil, err
	}
	order, err := s.order(opt)
	if err != nil {
		return nil, err
	}
	p, err := plan.Take(s.values.Shape(), 0, order, shapeops.Shape{len(order)})
	if err != nil {
		return nil, err
	}
	values, err := s.values.Ops().Execute(plan.NewPass(p))
	return finished(&Tensor{layout: s.layout, values: values}, err)
}

// sortable returns t made compact.
func (t *Tensor) sortable() (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	if t.Depth() == 0 {
		return nil, fmt.Errorf("%w: got no level", shapeops.ErrDim)
	}
	if len(t.Features()) > 0 {
		return nil, fmt.Errorf("%w: got features %v, want none: call ArgSort on one feature, then Pick", shapeops.ErrShape, t.Features())
	}
	return t.compact(nil)
}

// order returns the numbers of the values of a compact tensor, row by row in sorted order.
func (t *Tensor) order(opt arith.SortOptions) ([]int, error) {
	ranks, err := arith.ArgSort(t.values, 0, opt)
	if err != nil {
		return nil, err
	}
	list, err := ranks.Ints()
	if err != nil {
		return nil, err
	}
	of, next, order := t.layout.rowIDs(), slices.Clone(t.layout.offsets), make([]int, len(list))
	for _, i := range list {
		row := of[i]
		order[next[row]] = i
		next[row]++
	}
	return order, nil
}

// rowIDs returns, for each row of the innermost level, the number of its row in the level above.
func (l *Layout) rowIDs() []int64 {
	ids := make([]int64, 0, l.numbered())
	for row := range l.offsets[1:] {
		for range l.offsets[row+1] - l.offsets[row] {
			ids = append(ids, int64(row))
		}
	}
	return ids
}
