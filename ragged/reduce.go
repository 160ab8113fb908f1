package ragged

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Reducer is a verb of package arith that makes one element of many: arith.Sum, arith.Mean,
// arith.Max, arith.ArgMax, arith.Any, arith.Count ...
type Reducer = func(x *tensor.Tensor, over arith.Over) (*tensor.Tensor, error)

// Reduce makes one value of each row, by a verb of package arith:
//
//	[N * * F...], Reduce(0, arith.Sum) -> [N F...]: of each row of the batch, all that is in it
//	[N * * F...], Reduce(1, arith.Mean) -> [N * F...]: of each row of level 1
//
// depth is that of the result, less than t's; a negative one counts from t's, so that -1 reduces
// the last level. Of rows that are empty the result is what the verb makes of nothing, as the table
// in package arith says: a sum is 0, a mean NaN, the least of no float NaN; where there is none, as
// of integers, arith.ErrEmpty: cut or select rows first. The result is new, but for the layout.
//
// It returns shapeops.ErrDim unless t is deeper than that, and what the verb returns.
func (t *Tensor) Reduce(depth int, verb Reducer) (*Tensor, error) {
	l, over, s, err := t.rowsAt(depth)
	if err != nil {
		return nil, err
	}
	values, err := made(verb, s.values, over)
	if err != nil {
		return nil, s.emptyRow(depth, err)
	}
	if err := s.checkReduced(verb, values, l.numbered()); err != nil {
		return nil, err
	}
	return &Tensor{layout: l, values: values}, nil
}

// checkReduced returns ErrShape unless a verb has made one value of each of so many rows. If there
// are as many values as rows, one that keeps values could pass; it also keeps none.
func (t *Tensor) checkReduced(verb Reducer, made *tensor.Tensor, rows int) error {
	if got := made.Shape(); len(got) == 0 || got[0] != rows {
		return fmt.Errorf("%w: the verb made %v of %d rows", shapeops.ErrShape, got, rows)
	}
	if t.layout.numbered() != rows {
		return nil
	}
	none, err := t.values.Narrow(0, 0, 0)
	if err != nil {
		return err
	}
	out, err := verb(none, arith.BySplits(tensor.Vector[int64](0, 0)))
	if err == nil && out != nil && (len(out.Shape()) == 0 || out.Shape()[0] != 1) {
		return fmt.Errorf("%w: the verb makes %v of one row that is empty: see CumSum", shapeops.ErrShape, out.Shape())
	}
	return nil
}

// emptyRow returns the error of a verb that has nothing to choose from with the row, of those at a
// depth, which is empty.
func (t *Tensor) emptyRow(depth int, err error) error {
	l, failed := t.layout.At(depth)
	if failed != nil || !errors.Is(err, arith.ErrEmpty) {
		return err
	}
	ends := t.layout.reach(l.depth)
	for row := range ends[1:] {
		if ends[row] == ends[row+1] {
			return fmt.Errorf("level %d, row %d: %w", l.depth+1, row, err)
		}
	}
	return err
}

// made returns what a verb makes of values, or ErrKind if either is nil.
func made(verb Reducer, values *tensor.Tensor, over arith.Over) (*tensor.Tensor, error) {
	if verb == nil {
		return nil, errNoFunc
	}
	out, err := verb(values, over)
	if err == nil && out == nil {
		err = errNoValues
	}
	return out, err
}

var errNoFunc = fmt.Errorf("%w: got a nil function", shapeops.ErrKind)

// CumSum returns running sums of the values of each row, as arith.CumSum makes them, starting again
// in each row: [N *], CumSum(0) -> [N *]. depth is that of the rows, as in [Tensor.Reduce]. The
// result has t's layout. It returns shapeops.ErrDim unless t is deeper than that, and the errors of
// arith.CumSum.
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

// rowsAt returns the layout with so many levels, where its rows lie in the values of s, which is t,
// and s.
func (t *Tensor) rowsAt(depth int) (l *Layout, over arith.Over, s *Tensor, err error) {
	if !t.made() {
		return nil, over, nil, errNil
	}
	if s, err = t.straight(nil); err != nil {
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

// reach returns where the rows of a straight layout with fewer levels lie in the innermost one.
func (l *Layout) reach(depth int) []int64 {
	if l.depth == depth+1 {
		return l.offsets
	}
	return composed(l.outer.reach(depth), l.offsets)
}

// counts returns how many rows of the innermost level each row at a depth has.
func (l *Layout) counts(depth int) []int {
	ends := l.reach(depth)
	counts := make([]int, len(ends)-1)
	for i := range counts {
		counts[i] = int(ends[i+1] - ends[i])
	}
	return counts
}
