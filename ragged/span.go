package ragged

import (
	"fmt"
	"slices"
)

// span returns which of the numbered rows of the innermost level there are, if these follow one
// another.
func (l *Layout) span() (first, n int, ok bool) {
	if l.outer == nil {
		return l.rows.Span()
	}
	first, n, ok = l.outer.span()
	if !ok {
		return 0, 0, false
	}
	from, to := l.offsets[first], l.offsets[first+n]
	return int(from), int(to - from), true
}

// within returns the rows that so many rows of the level around have, from row first on.
func (l *Layout) within(first, n int) (from, to int) {
	return int(l.offsets[first]), int(l.offsets[first+n])
}

// Straight returns l if its rows stand in their order, from the first on, or else a layout of its
// own that says the same: what follows a view or a permutation, for [Layout.Nest] and
// [Layout.Offsets].
func (l *Layout) Straight() *Layout {
	if l.root().whole() {
		return l
	}
	return l.picked(nil).layout
}

// whole reports whether the rows of the batch are all that are numbered.
func (l *Layout) whole() bool {
	first, n, ok := l.rows.Span()
	return ok && first == 0 && (l.rows.Count() == n)
}

// Equal reports whether l and x have the same batch shape, depth and lengths.
func (l *Layout) Equal(x *Layout) bool { return l.differs(x) == "" }

// differs says how x differs from l, or is empty if it does not.
func (l *Layout) differs(x *Layout) string {
	switch {
	case l == x:
		return ""
	case x == nil:
		return "no layout"
	case l.depth != x.depth:
		return fmt.Sprintf("depth %d, other %d", l.depth, x.depth)
	case l.outer == nil:
		if !l.Shape().Equal(x.Shape()) {
			return fmt.Sprintf("batch %v, other %v", l.Shape(), x.Shape())
		}
		return ""
	}
	if text := l.outer.differs(x.outer); text != "" {
		return text
	}
	return l.innermost(x)
}

// innermost says how the innermost level of x differs from that of l, whose outer ones are equal.
func (l *Layout) innermost(x *Layout) string {
	a, b := l.Straight().offsets, x.Straight().offsets
	if len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) || slices.Equal(a, b) {
		return ""
	}
	for i := range a[1:] {
		if p, q := a[i+1]-a[i], b[i+1]-b[i]; p != q {
			return fmt.Sprintf("level %d, row %d has length %d, other %d", l.depth, i, p, q)
		}
	}
	return ""
}

// checkEqual returns ErrLengths unless x says the same as l.
func (l *Layout) checkEqual(x *Layout) error {
	if text := l.differs(x); text != "" {
		return fmt.Errorf("%w: %s", ErrLengths, text)
	}
	return nil
}
