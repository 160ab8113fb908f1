package ragged

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Reducer is a reduction of package arith, which combines many elements to one: arith.Sum,
// arith.Mean, arith.Max, arith.ArgMax, arith.Any, arith.Count ...
type Reducer = func(x *tensor.Tensor, over arith.Over) (*tensor.Tensor, error)

// Reduce combines the values of each row to one value, by a reduction of package arith:
//
//	[N * * F...], Reduce(0, arith.Sum) -> [N F...]: all values in each row of the batch
//	[N * * F...], Reduce(1, arith.Mean) -> [N * F...]: the values in each row of level 1
//
// depth is the depth of the result, less than t's; a negative one counts from t's, so that -1
// reduces the last level. For an empty row the result is the value of the reduction of nothing,
// which a table in package arith lists: a sum is 0, a mean is NaN, a minimum of floats is NaN.
// Where there is no such value, as for the minimum of integers, Reduce returns arith.ErrEmpty: cut
// or select rows first. The result shares t's layout, and no values.
//
// Reduce returns shapeops.ErrDim unless t is deeper than depth, and the errors of reduction.
func (t *Tensor) Reduce(depth int, reduction Reducer) (*Tensor, error) {
	l, over, s, err := t.rowsAt(depth)
	if err != nil {
		return nil, err
	}
	if reduction == nil {
		return nil, errNoFunc
	}
	values, err := reduction(s.values, over)
	if err == nil && values == nil {
		err = errNoValues
	}
	if errors.Is(err, arith.ErrEmpty) { // say which row is empty
		ends := s.layout.reach(l.depth)
		for row := range ends[1:] {
			if ends[row] == ends[row+1] {
				return nil, fmt.Errorf("level %d, row %d: %w", l.depth+1, row, err)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if err := s.checkReduced(reduction, values, l.numbered()); err != nil {
		return nil, err
	}
	return &Tensor{layout: l, values: values}, nil
}

// checkReduced returns ErrShape unless reduction has combined each row to one value. If there are
// as many values as rows, a function that keeps all values would have the right shape too; so
// checkReduced also calls it with one empty row.
func (t *Tensor) checkReduced(reduction Reducer, made *tensor.Tensor, rows int) error {
	if got := made.Shape(); len(got) == 0 || got[0] != rows {
		return fmt.Errorf("%w: the reduction returned %v for %d rows", shapeops.ErrShape, got, rows)
	}
	if t.layout.numbered() != rows {
		return nil
	}
	none, err := t.values.Narrow(0, 0, 0)
	if err != nil {
		return err
	}
	out, err := reduction(none, arith.BySplits(tensor.Vector[int64](0, 0)))
	if err == nil && out != nil && (len(out.Shape()) == 0 || out.Shape()[0] != 1) {
		return fmt.Errorf("%w: the reduction returned %v for one empty row, want one value: for running sums use CumSum", shapeops.ErrShape, out.Shape())
	}
	return nil
}

var errNoFunc = fmt.Errorf("%w: got a nil function", shapeops.ErrKind)

// CumSum returns cumulative sums of the values of each row, as arith.CumSum computes them, starting
// anew in each row: [N *], CumSum(0) -> [N *]. depth is the depth of the rows, as in
// [Tensor.Reduce]. The result has t's layout. CumSum returns shapeops.ErrDim unless t is deeper
// than depth, and the errors of arith.CumSum.
func (t *Tensor) CumSum(depth int) (*Tensor, error) {
	_, over, s, err := t.rowsAt(depth)
	if err != nil {
		return nil, err
	}
	values, err := arith.CumSum(s.values, over)
	if err != nil {
		return nil, err
	}
	return New(values, s.layout)
}

// rowsAt returns s, which is t made compact, l, its layout of the given depth, and over, the rows
// of l as ranges of s's values.
func (t *Tensor) rowsAt(depth int) (l *Layout, over arith.Over, s *Tensor, err error) {
	if !t.made() {
		return nil, over, nil, errNil
	}
	if s, err = t.compact(nil); err != nil {
		return nil, over, nil, err
	}
	if l, err = s.layout.At(depth); err != nil {
		return nil, over, nil, err
	}
	if l.depth == s.Depth() {
		return nil, over, nil, fmt.Errorf("%w: got depth %d, want less than the %d of the tensor", shapeops.ErrDim, depth, s.Depth())
	}
	return l, arith.BySplits(tensor.Vector(s.layout.reach(l.depth)...)), s, nil
}

// reach returns the offsets, within the innermost level of a compact layout, of the rows at a
// depth.
func (l *Layout) reach(depth int) []int64 {
	if l.depth == depth+1 {
		return l.offsets
	}
	return composed(l.outer.reach(depth), l.offsets)
}

// counts returns the number of rows of the innermost level in each row at a depth.
func (l *Layout) counts(depth int) []int {
	ends := l.reach(depth)
	counts := make([]int, len(ends)-1)
	for i := range counts {
		counts[i] = int(ends[i+1] - ends[i])
	}
	return counts
}
