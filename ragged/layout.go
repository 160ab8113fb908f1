package ragged

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
)

// Errors about offsets and lengths. Errors about shapes, dims and indices come from package
// shapeops.
var (
	ErrOffsets = errors.New("bad offsets")
	ErrLengths = errors.New("lengths differ")
)

// A Layout says how the rows of a batch are cut into rows of rows: patients into visits, visits
// into codes. It has a batch shape and a number of levels, its depth. Each level has a length for
// every row of the level above, in the form of offsets:
//
//	batch [3]            patient 0           1    2
//	level 1   0 2 3 5    visit   0     1     2    3     4     patient 0 has visits 0 and 1
//	level 2   0 2 2 3 .. code    0 1         2    3 4 5       visit 1 has no code
//
// Row r of a level has the rows from offsets[r] up to, not including, offsets[r+1] of the next
// level. Level 0 is the batch.
//
// A Layout of depth 2 contains the Layout of depth 1, [Layout.Outer], so that a tensor of visits
// and a tensor of codes share it. An operation on several tensors computes each Layout that they
// share once, and the results share it too.
//
// A row, a range of rows or a permutation of the batch is a Layout over the same offsets, which are
// not rewritten. Such a Layout is not compact: a layout is compact if its offsets have exactly
// the rows of its batch, in order. [Layout.Compact] returns an equal layout that is.
//
// A Layout never changes. Safe for concurrent use.
type Layout struct {
	outer   *Layout    // without the innermost level; nil at depth 0
	rows    *plan.Rows // at depth 0: the numbered row at each position of the batch
	repeats bool       // at depth 0: a row may be at several positions
	offsets []int64    // at other depths: of the innermost level; one more than outer has rows
	depth   int
}

// NewLayout returns the layout of a batch with one level for each list of offsets:
//
//	batch [B...], offsets[0] of size(B)+1 numbers, offsets[k] of last(offsets[k-1])+1
//
// It keeps the lists; the caller must not change them afterwards. It returns shapeops.ErrShape if
// the batch shape is invalid, and [ErrOffsets], with level and row, unless each list begins with 0,
// never decreases and has that length.
func NewLayout(batch shapeops.Shape, offsets ...[]int64) (*Layout, error) {
	rows, err := plan.NewRows(batch...)
	if err == nil {
		err = checkListed(rows.Count())
	}
	if err != nil {
		return nil, err
	}
	l := &Layout{rows: rows}
	for _, list := range offsets {
		if l, err = l.Nest(list); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// LayoutOf returns the layout of a batch with one level for each list of lengths:
//
//	batch [B...], lengths[0] of size(B) numbers, lengths[k] of sum(lengths[k-1])
//
// It copies the lists. It returns the errors of [NewLayout], and [ErrLengths], with level and row,
// for a negative length.
func LayoutOf(batch shapeops.Shape, lengths ...[]int64) (*Layout, error) {
	l, err := NewLayout(batch)
	if err != nil {
		return nil, err
	}
	for _, list := range lengths {
		offsets, err := offsetsOf(list)
		if err != nil {
			return nil, fmt.Errorf("level %d, %w", l.depth+1, err)
		}
		if l, err = l.Nest(offsets); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// offsetsOf returns the offsets of rows with the given lengths.
func offsetsOf(lengths []int64) ([]int64, error) {
	offsets := make([]int64, len(lengths)+1)
	for i, n := range lengths {
		if n < 0 {
			return nil, fmt.Errorf("row %d: %w: got %d, want 0 or more", i, ErrLengths, n)
		}
		if offsets[i] > math.MaxInt64-n {
			return nil, fmt.Errorf("row %d: %w: got %d after %d rows, want a sum of 63 bits", i, ErrLengths, n, offsets[i])
		}
		offsets[i+1] = offsets[i] + n
	}
	return offsets, nil
}

// Nest returns l with one more level: offsets has a number for each row of l's innermost level, and
// one for the end. It keeps offsets; the caller must not change them afterwards. It returns
// [ErrOffsets], with level and row, unless offsets begin with 0, never decrease and have that
// length, and shapeops.ErrKind if l is nil or not compact: call [Layout.Compact] first.
func (l *Layout) Nest(offsets []int64) (*Layout, error) {
	if !l.made() {
		return nil, errNoLayout
	}
	if !l.root().whole() {
		return nil, fmt.Errorf("%w: got a layout that is a part of another: call Compact first", shapeops.ErrKind)
	}
	if rows := l.numbered(); len(offsets) != rows+1 {
		return nil, fmt.Errorf("level %d, of %d rows: %w: got %d of them, want one for each row and one for the end",
			l.depth+1, rows, ErrOffsets, len(offsets))
	}
	if offsets[0] != 0 {
		return nil, fmt.Errorf("level %d, row 0: %w: got %d, want the first to be 0", l.depth+1, ErrOffsets, offsets[0])
	}
	last := int64(0)
	for i, o := range offsets {
		if o < last {
			return nil, fmt.Errorf("level %d, row %d: %w: got %d after %d, want them never to decrease", l.depth+1, i-1, ErrOffsets, o, last)
		}
		last = o
	}
	return l.nested(offsets), nil
}

// nested is Nest without checks.
func (l *Layout) nested(offsets []int64) *Layout {
	return &Layout{outer: l, offsets: offsets, depth: l.depth + 1}
}

var errNoLayout = fmt.Errorf("%w: got no layout", shapeops.ErrKind)

// made reports whether l is neither nil nor the zero Layout, which has no rows.
func (l *Layout) made() bool { return l != nil && l.root().rows != nil }

// Depth returns the number of levels.
func (l *Layout) Depth() int { return l.depth }

// Shape returns the batch shape. The caller must not change it.
func (l *Layout) Shape() shapeops.Shape {
	if !l.made() {
		return nil
	}
	return l.root().rows.Shape()
}

// Outer returns the layout without its innermost level, or nil at depth 0.
func (l *Layout) Outer() *Layout { return l.outer }

// At returns the layout of the first depth levels: the batch alone at 0, l itself at its own depth.
// A negative depth counts from l's own, so that -1 is [Layout.Outer]. It returns shapeops.ErrDim if
// l has fewer levels.
func (l *Layout) At(depth int) (*Layout, error) {
	d := depth
	if d < 0 {
		d += l.depth
	}
	if d < 0 || d > l.depth {
		return nil, fmt.Errorf("%w: got depth %d of a layout with %d levels", shapeops.ErrDim, depth, l.depth)
	}
	return l.at(d), nil
}

// at is At of a depth that l has.
func (l *Layout) at(depth int) *Layout {
	for l.depth > depth {
		l = l.outer
	}
	return l
}

// root returns the layout of the batch.
func (l *Layout) root() *Layout { return l.at(0) }

// level resolves a level, which may be negative, to 1 up to the depth.
func (l *Layout) level(level int) (int, error) {
	if !l.made() {
		return 0, errNoLayout
	}
	at := level
	if at < 0 {
		at += l.depth + 1
	}
	if at < 1 || at > l.depth {
		return 0, fmt.Errorf("%w: got level %d of %v, want 1 to %d", shapeops.ErrDim, level, l, l.depth)
	}
	return at, nil
}

// NumRows returns the total number of rows at a level, or math.MaxInt if that is larger than an
// int: at level 0 the rows of the batch, at the last level, or -1, the values. A row that an
// expansion repeats counts once for each position. NumRows returns shapeops.ErrDim for a level that
// l does not have.
func (l *Layout) NumRows(level int) (int, error) {
	if !l.made() {
		return 0, errNoLayout
	}
	k := level
	if k < 0 {
		k += l.depth + 1
	}
	if k < 0 || k > l.depth {
		return 0, fmt.Errorf("%w: got level %d of %v, want 0 to %d", shapeops.ErrDim, level, l, l.depth)
	}
	at := l.at(k)
	if _, n, ok := at.span(); ok {
		return n, nil
	}
	return l.root().rows.Sum(func(row int) int {
		from, to := at.extent(row, 1)
		return to - from
	}), nil
}

// numbered returns the number of rows of the innermost level that the offsets number. A part of a
// layout may have fewer.
func (l *Layout) numbered() int {
	if l.outer == nil {
		return l.rows.Count()
	}
	return int(l.offsets[len(l.offsets)-1])
}

// Offsets returns the offsets of a level, from 1 to the depth; a negative level counts from the
// end. They begin with 0. Offsets copies only if l is a part of another layout; the caller must not
// change the slice. It returns shapeops.ErrDim for a level that l does not have.
func (l *Layout) Offsets(level int) ([]int64, error) {
	at, err := l.level(level)
	if err != nil {
		return nil, err
	}
	return l.at(at).Compact().offsets, nil
}

// Lengths returns the length of each row, counted in rows of the given level: Lengths(1) are the
// lengths of the rows of the batch. The caller may change the slice. It returns shapeops.ErrDim for
// a level that l does not have.
func (l *Layout) Lengths(level int) ([]int64, error) {
	at, err := l.level(level)
	if err != nil {
		return nil, err
	}
	return l.at(at).Compact().lengths(), nil
}

// lengths returns the lengths at the innermost level of a compact layout.
func (l *Layout) lengths() []int64 {
	out := make([]int64, len(l.offsets)-1)
	for i := range out {
		out[i] = l.offsets[i+1] - l.offsets[i]
	}
	return out
}

// String returns the batch shape and a star for each level, such as "[3 * *]".
func (l *Layout) String() string { return l.text(nil) }

// text is String followed by the dims of features.
func (l *Layout) text(features shapeops.Shape) string {
	parts := make([]string, 0, len(l.Shape())+l.depth+len(features))
	for _, n := range l.Shape() {
		parts = append(parts, fmt.Sprint(n))
	}
	for range l.depth {
		parts = append(parts, "*")
	}
	for _, n := range features {
		parts = append(parts, fmt.Sprint(n))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// Equal reports whether l and x have the same batch shape, depth and lengths.
func (l *Layout) Equal(x *Layout) bool { return l.differs(x) == "" }

// differs describes how x differs from l, or returns "".
func (l *Layout) differs(x *Layout) string {
	switch {
	case l == x || !l.made() && !x.made():
		return ""
	case !l.made() || !x.made():
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
	a, b := l.Compact().offsets, x.Compact().offsets
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

// CheckEqual returns [ErrLengths], with level and row, unless l and x are equal as [Layout.Equal]
// says, and shapeops.ErrKind if x is nil.
func (l *Layout) CheckEqual(x *Layout) error {
	if x == nil {
		return errNoLayout
	}
	if text := l.differs(x); text != "" {
		return fmt.Errorf("%w: %s", ErrLengths, text)
	}
	return nil
}

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
