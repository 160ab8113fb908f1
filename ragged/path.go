package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// Row returns the content of one row, as a batch of the rows inside it: [N * *], Row(i) -> [L *].
// At depth 0 it returns the value, with the batch shape []: [N F...] -> [F...]. A negative i counts
// from the end. The result shares t's values; Row takes constant time. It returns
// shapeops.ErrIndex, with the number of rows, if there is no such row, and shapeops.ErrDim unless
// the batch has one dim.
func (t *Tensor) Row(i int) (*Tensor, error) { return t.Path(ix.At(i)) }

// Range returns the rows from start up to, not including, stop, with the rules of Python's slices:
// [N * *] -> [n * *]. The result shares t's values; Range takes constant time. It returns
// shapeops.ErrDim if the batch has no dim.
func (t *Tensor) Range(start, stop int) (*Tensor, error) { return t.Index(ix.Range(start, stop)) }

// Path enters rows: for [N * *], Path(ix.At(i), ix.At(j), ix.Range(a, b)) returns rows a to b of
// row j of row i, a batch [b-a]. All parts but the last are positions; the last may be a range
// without a step. If the batch shape is [], a path begins at level 1. The result shares t's values;
// Path takes constant time.
//
// It returns shapeops.ErrIndex, with level and length, for a position that does not exist;
// shapeops.ErrIndex for more parts than the batch and t's levels, and for lists and masks; and
// shapeops.ErrDim if the batch has more than one dim.
func (t *Tensor) Path(expr ...ix.Index) (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	if len(t.Shape()) > 1 || len(t.Shape())+t.Depth() == 0 {
		return nil, fmt.Errorf("%w: got the batch shape %v, want one dim", shapeops.ErrDim, t.Shape())
	}
	if err := checkPath(expr, t.Depth()+len(t.Shape())); err != nil {
		return nil, err
	}
	first, n, ok := t.layout.root().rows.Span()
	if !ok {
		s, err := t.compact(nil)
		if err != nil {
			return nil, err
		}
		t, first, n = s, 0, s.Shape().Size()
	}
	at := spot{first: first, n: n, single: len(t.Shape()) == 0}
	if err := at.follow(expr, t.layout.at); err != nil {
		return nil, err
	}
	l, err := inside(nil, t.layout, at)
	if err != nil {
		return nil, err
	}
	return &Tensor{l, t.values, true}, nil
}

// checkPath returns ErrIndex unless expr is a valid path into dims batch dims and levels.
func checkPath(expr []ix.Index, dims int) error {
	if err := checkSteps(expr, dims); err != nil || len(expr) == 0 {
		return err
	}
	i := len(expr) - 1
	x := expr[i]
	switch x.Kind() {
	case ix.KindAt, ix.KindAll:
		return nil
	case ix.KindRange:
		if _, _, step := x.Bounds(); step > 1 {
			return fmt.Errorf("%w: part %d: got %v, want a range without a step: see Index and IndexLevel", shapeops.ErrIndex, i, x)
		}
		return nil
	}
	return notInPath(i, x)
}

// checkSteps returns ErrIndex if expr has more parts than dims, the number of batch dims and
// levels, or if a part before the last is not a position.
func checkSteps(expr []ix.Index, dims int) error {
	if len(expr) > max(dims, 1) {
		return fmt.Errorf("%w: got %d parts, want at most %d: one for the batch and one for each level", shapeops.ErrIndex, len(expr), dims)
	}
	for i, x := range expr[:max(len(expr)-1, 0)] {
		if x.Kind() != ix.KindAt {
			return notInPath(i, x)
		}
	}
	return nil
}

func notInPath(i int, x ix.Index) error {
	return fmt.Errorf("%w: part %d: got %v, want positions, and at most a range as the last part", shapeops.ErrIndex, i, x)
}

// A spot is a range of n rows of a level, beginning with first, or a single row.
type spot struct {
	level    int
	first, n int
	single   bool
}

// follow follows a path that was checked. at returns the layout of a depth.
func (s *spot) follow(expr []ix.Index, at func(level int) *Layout) error {
	for _, x := range expr {
		if s.single {
			s.enter(at(s.level + 1))
		}
		switch x.Kind() {
		case ix.KindRange:
			start, stop, _ := x.Bounds()
			s.narrow(start, stop)
		case ix.KindAt:
			if err := s.step(x.Position()); err != nil {
				return err
			}
		}
	}
	return nil
}

// step moves to row i of the range.
func (s *spot) step(i int) error {
	at := i
	if at < 0 {
		at += s.n
	}
	if at < 0 || at >= s.n {
		return fmt.Errorf("%w: level %d: got row %d of %d", shapeops.ErrIndex, s.level, i, s.n)
	}
	s.first, s.n, s.single = s.first+at, 1, true
	return nil
}

// narrow moves to a part of the range.
func (s *spot) narrow(start, stop int) {
	lo := plan.Clamp(start, s.n)
	s.first, s.n = s.first+lo, max(0, plan.Clamp(stop, s.n)-lo)
}

// enter moves from a single row to the rows inside it. l is the layout whose innermost level is the
// next one.
func (s *spot) enter(l *Layout) {
	from, to := l.within(s.first, 1)
	*s = spot{level: s.level + 1, first: from, n: to - from}
}

// An insideKey is the key under which a pass keeps the batch at a spot of l.
type insideKey struct {
	at spot
	l  *Layout
}

// inside returns the part of l at a spot: the batch of its rows, or of the rows inside a single
// row. If l has no further level, a single row has batch shape [].
func inside(p *plan.Pass, l *Layout, at spot) (*Layout, error) {
	dims := 1
	if at.single && at.level < l.depth {
		at.enter(l.at(at.level + 1))
	} else if at.single {
		dims = 0
	}
	root, err := plan.Once(p, insideKey{at, l.at(at.level)}, func() (*Layout, error) {
		rows, err := plan.RowsFrom(at.first, l.at(at.level).numbered(), []int{at.n}[:dims]...)
		return &Layout{rows: rows}, err
	})
	if err != nil {
		return nil, err
	}
	return under(p, l, at.level, root), nil
}

// under returns l with its first level levels replaced by outer, whose innermost level has the same
// row numbers.
func under(p *plan.Pass, l *Layout, level int, outer *Layout) *Layout {
	if l.depth == level {
		return outer
	}
	return nestIn(p, under(p, l.outer, level, outer), l)
}
