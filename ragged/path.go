package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// Row returns one row, as the batch that its own rows are: [N * *], Row(i) -> [L *]. At depth 0 it
// is the value: [N F...] -> [F...] with the batch shape []. The result shares t's values; it takes
// constant time. A negative row counts from the end. It returns shapeops.ErrIndex, with the number
// of rows, if there is no such row, and shapeops.ErrDim if the batch has not exactly one dim.
func (t *Tensor) Row(i int) (*Tensor, error) { return t.Path(ix.At(i)) }

// Range returns the rows from start to before stop, with the rules of Python's slices: [N * *] ->
// [n * *]. The result shares t's values; it takes constant time. It returns shapeops.ErrDim if the
// batch has no dim.
func (t *Tensor) Range(start, stop int) (*Tensor, error) { return t.Index(ix.Range(start, stop)) }

// Path goes into rows: [N * *], Path(ix.At(i), ix.At(j), ix.Range(a, b)) are rows a to b of row j
// of row i, a batch [b-a]. All parts but the last are positions; the last can be a range without a
// step. The result shares t's values; it takes constant time.
//
// It returns shapeops.ErrIndex, with level and length, for a position that is not there, for more
// parts than t has levels and the batch, and for parts of another kind; shapeops.ErrDim if the
// batch has more dims than one. With a batch shape [], a path begins at level 1.
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
		s, err := t.straight(nil)
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

// checkPath returns ErrIndex unless expr can be a path into so many dims and levels.
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

// checkSteps returns ErrIndex if expr has too many parts for so many dims and levels, or one before
// the last that is not a position.
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

// A spot is some rows of a level that follow one another, or a single one.
type spot struct {
	level    int
	first, n int
	single   bool
}

// follow goes where a checked path leads. at returns the layout whose innermost level is numbered.
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

// step goes to one of the rows.
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

// narrow goes to some of the rows.
func (s *spot) narrow(start, stop int) {
	lo := plan.Clamp(start, s.n)
	s.first, s.n = s.first+lo, max(0, plan.Clamp(stop, s.n)-lo)
}

// enter goes from a single row to the rows that it has in l, whose innermost level is the next.
func (s *spot) enter(l *Layout) {
	from, to := l.within(s.first, 1)
	*s = spot{level: s.level + 1, first: from, n: to - from}
}

// An insideKey is under which a pass keeps the batch at a spot of a layout.
type insideKey struct {
	at spot
	l  *Layout
}

// inside returns the part of a layout that is at a spot: a batch of rows, or, of a single one, of
// those that it has; the batch shape [] if it has none because l has no further level.
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

// under returns l with another layout in the place of the one that has so many of its levels, and
// which numbers its rows alike.
func under(p *plan.Pass, l *Layout, level int, outer *Layout) *Layout {
	if l.depth == level {
		return outer
	}
	return nestIn(p, under(p, l.outer, level, outer), l)
}
