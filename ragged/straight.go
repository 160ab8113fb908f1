package ragged

import (
	"github.com/go-tensordict/tensordict/internal/plan"
)

// span returns which of the numbered rows of the innermost level there are, if these follow one
// another.
func (l *Layout) span() (first, n int, ok bool) {
	first, n, ok = l.root().rows.Span()
	if !ok {
		return 0, 0, false
	}
	from, to := l.extent(first, n)
	return from, to - from, true
}

// extent returns the rows of the innermost level that n numbered rows of the batch have, from row
// first on.
func (l *Layout) extent(first, n int) (from, to int) {
	if l.outer == nil {
		return first, first + n
	}
	from, to = l.outer.extent(first, n)
	return int(l.offsets[from]), int(l.offsets[to])
}

// within returns the rows that so many rows of the level around have, from row first on.
func (l *Layout) within(first, n int) (from, to int) {
	return int(l.offsets[first]), int(l.offsets[first+n])
}

// Straight returns l if its rows stand in their order, from the first on, or else a layout of its
// own that says the same: what follows a view or a permutation, for [Layout.Nest] and [New].
func (l *Layout) Straight() *Layout { return l.straight(nil) }

// straight is Straight in a pass: what tensors share is made straight once.
func (l *Layout) straight(p *plan.Pass) *Layout {
	if l.root().whole() {
		return l
	}
	return l.picked(p).layout
}

// whole reports whether the rows of the batch are all that are numbered.
func (l *Layout) whole() bool {
	first, n, ok := l.rows.Span()
	return ok && first == 0 && (l.rows.Count() == n)
}
