package ragged

import (
	"github.com/go-tensordict/tensordict/internal/plan"
)

// span returns the range of rows of the innermost level that l has, if the rows of the batch are
// consecutive.
func (l *Layout) span() (first, n int, ok bool) {
	first, n, ok = l.root().rows.Span()
	if !ok {
		return 0, 0, false
	}
	from, to := l.extent(first, n)
	return from, to - from, true
}

// extent returns the range of rows of the innermost level inside n numbered rows of the batch, from
// row first on.
func (l *Layout) extent(first, n int) (from, to int) {
	if l.outer == nil {
		return first, first + n
	}
	from, to = l.outer.extent(first, n)
	return int(l.offsets[from]), int(l.offsets[to])
}

// within returns the range of rows of the innermost level inside n rows of the level above, from
// row first on.
func (l *Layout) within(first, n int) (from, to int) {
	return int(l.offsets[first]), int(l.offsets[first+n])
}

// Compact returns an equal layout that is compact, as [Layout] explains: l itself if it is.
// [Layout.Nest] and [New] take compact layouts; a view or a permutation has a layout that is not.
func (l *Layout) Compact() *Layout { return l.compact(nil) }

// compact is Compact in a pass, which computes the result once for all tensors that share l.
func (l *Layout) compact(p *plan.Pass) *Layout {
	if !l.made() || l.root().whole() {
		return l
	}
	return l.picked(p).layout
}

// whole reports whether the rows of the batch are all numbered rows, in order. l has depth 0.
func (l *Layout) whole() bool {
	first, n, ok := l.rows.Span()
	return ok && first == 0 && (l.rows.Count() == n)
}
