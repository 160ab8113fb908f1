package ragged

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Lists returns t as nested slices, of the type that [From] takes: a []T for depth 0, [][]T for
// depth 1, [][][]T for depth 2, [][][][]T for depth 3.
//
//	days, err := ragged.Lists[int64](t)
//	for _, row := range days.([][]int64) {
//
// It copies the values once; the slices of one level share one array. Lists returns tensor.ErrDType
// if t does not hold T, shapeops.ErrDim unless t has one batch dim and at most three levels, and
// shapeops.ErrShape if values have features.
func Lists[T tensor.Elem](t *Tensor) (any, error) {
	if !t.made() {
		return nil, errNil
	}
	if len(t.Shape()) != 1 || t.Depth() > 3 {
		return nil, fmt.Errorf("%w: got %v, want one dim of batch and at most 3 levels", shapeops.ErrDim, t.layout)
	}
	if err := t.checkBare(); err != nil {
		return nil, err
	}
	s, err := t.compact(nil)
	if err != nil {
		return nil, err
	}
	var values []T
	if err := tensor.Read(s.values, func(v []T) { values = slices.Clone(v) }); err != nil {
		return nil, err
	}
	switch l := s.layout; l.depth {
	case 0:
		return values, nil
	case 1:
		return sliced(l, values), nil
	case 2:
		return sliced(l.outer, sliced(l, values)), nil
	default:
		return sliced(l.outer.outer, sliced(l.outer, sliced(l, values))), nil
	}
}

// sliced cuts list into the rows of l's innermost level.
func sliced[T any](l *Layout, list []T) [][]T {
	out := make([][]T, len(l.offsets)-1)
	for i := range out {
		from, to := l.within(i, 1)
		out[i] = list[from:to:to]
	}
	return out
}
