package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// Row returns the content of one row, as a batch of the rows inside it: [N * *], Row(i) -> [L *].
// At depth 0 it returns the value, with the batch shape []: [N F...] -> [F...]. A negative i counts
// from the end. The result shares t's values; Row takes constant time. It returns
// shapeops.ErrIndex, with the number of rows, if there is no such row, and shapeops.ErrDim unless
// the batch has one dim.
func (t *Tensor) Row(i int) (_ *Tensor, err error) {
	defer errtext.Name("row", &err)
	return t.entered(ix.At(i))
}

// Range returns the rows from start up to, not including, stop, with the rules of Python's slices:
// [N * *] -> [n * *]. The result shares t's values; Range takes constant time. It returns
// shapeops.ErrDim if the batch has no dim.
func (t *Tensor) Range(start, stop int) (_ *Tensor, err error) {
	defer errtext.Name("range", &err)
	return t.selected(ix.Range(start, stop))
}

// Path enters rows: for [N * *], Path(ix.At(i), ix.At(j), ix.Range(a, b)) returns rows a to b of
// row j of row i, a batch [b-a]. All parts but the last are positions; the last may be a range
// without a step. If the batch shape is [], a path begins at level 1. The result shares t's values;
// Path takes constant time.
//
// It returns shapeops.ErrIndex, with level and length, for a position that does not exist;
// shapeops.ErrIndex for more parts than the batch and t's levels, and for lists and masks; and
// shapeops.ErrDim if the batch has more than one dim.
func (t *Tensor) Path(expr ...ix.Index) (_ *Tensor, err error) {
	defer errtext.Name("path", &err)
	return t.entered(expr...)
}

// entered is Path without its name in errors.
func (t *Tensor) entered(expr ...ix.Index) (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	if len(t.Shape()) > 1 || len(t.Shape())+t.Depth() == 0 {
		return nil, fmt.Errorf("%w: got the batch shape %v, want one dim", shapeops.ErrDim, t.Shape())
	}
	if dims := t.Depth() + len(t.Shape()); len(expr) > max(dims, 1) {
		return nil, fmt.Errorf("%w: got %d parts, want at most %d: one for the batch and one for each level", shapeops.ErrIndex, len(expr), dims)
	}
	for i, x := range expr {
		last := i == len(expr)-1
		switch _, _, step := x.Bounds(); {
		case x.Kind() == ix.KindAt, last && x.Kind() == ix.KindAll, last && x.Kind() == ix.KindRange && step <= 1:
		case last && x.Kind() == ix.KindRange:
			return nil, fmt.Errorf("%w: part %d: got %v, want a range without a step: see Index and IndexLevel", shapeops.ErrIndex, i, x)
		default:
			return nil, fmt.Errorf("%w: part %d: got %v, want positions, and at most a range as the last part", shapeops.ErrIndex, i, x)
		}
	}
	first, n, ok := t.layout.root().rows.Span()
	if !ok {
		s, err := t.compact(nil)
		if err != nil {
			return nil, err
		}
		t, first, n = s, 0, s.Shape().Size()
	}
	at := plan.Spot{First: first, N: n, Single: len(t.Shape()) == 0}
	for _, x := range expr {
		if at.Single {
			at.Enter(t.layout.at(at.Level + 1).offsets)
		}
		switch x.Kind() {
		case ix.KindRange:
			start, stop, _ := x.Bounds()
			at.Narrow(start, stop)
		case ix.KindAt:
			if err := at.Step(x.Position()); err != nil {
				return nil, err
			}
		}
	}
	l, err := inside(nil, t.layout, at)
	if err != nil {
		return nil, err
	}
	return &Tensor{l, t.values, true}, nil
}

// An insideKey is the key under which a pass keeps the batch at a spot of l.
type insideKey struct {
	at plan.Spot
	l  *Layout
}

// inside returns the part of l at a spot: the batch of its rows, or of the rows inside a single
// row. If l has no further level, a single row has batch shape [].
func inside(p *plan.Pass, l *Layout, at plan.Spot) (*Layout, error) {
	dims := 1
	if at.Single && at.Level < l.depth {
		at.Enter(l.at(at.Level + 1).offsets)
	} else if at.Single {
		dims = 0
	}
	root, err := plan.Once(p, insideKey{at, l.at(at.Level)}, func() (*Layout, error) {
		rows, err := plan.RowsFrom(at.First, l.at(at.Level).numbered(), []int{at.N}[:dims]...)
		return &Layout{rows: rows}, err
	})
	if err != nil {
		return nil, err
	}
	return under(p, l, at.Level, root), nil
}

// under returns l with its first level levels replaced by outer, whose innermost level has the same
// row numbers.
func under(p *plan.Pass, l *Layout, level int, outer *Layout) *Layout {
	if l.depth == level {
		return outer
	}
	return nestIn(p, under(p, l.outer, level, outer), l)
}
