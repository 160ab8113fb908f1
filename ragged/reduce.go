package ragged

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Reducer is a reduction of package arith, which combines many elements to one: arith.Sum,
// arith.Mean, arith.Max, arith.ArgMax, arith.Any, arith.Count ...
type Reducer = func(x *tensor.Tensor, over arith.Over) (*tensor.Tensor, error)

// Reduce removes a level and the levels after it: a reduction of package arith combines the values
// in each row of the level above to one value.
//
//	[N * * F...], Reduce(1, arith.Sum) -> [N F...]: all codes of each patient
//	[N * * F...], Reduce(2, arith.Mean) -> [N * F...]: the codes of each visit
//
// For an empty row the result is the value of the reduction of nothing, which a table in package
// arith lists: a sum is 0, a mean is NaN, a minimum of floats is NaN. Where there is no such value,
// as for the minimum of integers, Reduce returns arith.ErrEmpty: cut or select rows first. The
// result shares t's layout, and no values.
//
// Reduce returns shapeops.ErrDim for a level that t does not have, and the errors of reduction.
func (t *Tensor) Reduce(level int, reduction Reducer) (_ *Tensor, err error) {
	defer errtext.Name("reduce", &err)
	l, over, s, err := t.above(level)
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
	if err != nil { // an error of reduction stays whole
		return nil, fmt.Errorf("level %d: %w", l.depth+1, err)
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

// CumSum returns cumulative sums of values, as arith.CumSum computes them, starting anew in each
// row of the level above the given one:
//
//	[N * *], CumSum(1) -> [N * *]: over all codes of each patient
//	[N * *], CumSum(2) -> [N * *]: over the codes of each visit
//
// The result has t's layout. CumSum returns shapeops.ErrDim for a level that t does not have, and
// the errors of arith.CumSum.
func (t *Tensor) CumSum(level int) (*Tensor, error) {
	_, over, s, err := t.above(level)
	if err != nil {
		return nil, errtext.Named("cum sum", err)
	}
	values, err := arith.CumSum(s.values, over)
	if err != nil {
		return nil, err
	}
	return New(values, s.layout)
}

// above returns s, which is t made compact, l, its layout without the given level and those after
// it, and over, the rows of l as ranges of s's values.
func (t *Tensor) above(level int) (l *Layout, over arith.Over, s *Tensor, err error) {
	if !t.made() {
		return nil, over, nil, errNil
	}
	if s, err = t.compact(nil); err != nil {
		return nil, over, nil, err
	}
	if level, err = s.layout.level(level); err != nil {
		return nil, over, nil, err
	}
	l = s.layout.at(level - 1)
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
