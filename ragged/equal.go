package ragged

import (
	"fmt"
	"slices"
)

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
	return l.innermost(x)
}

// innermost describes how the innermost levels of x and l differ, or returns "". The outer levels
// are equal.
func (l *Layout) innermost(x *Layout) string {
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
// says.
func (l *Layout) CheckEqual(x *Layout) error {
	if text := l.differs(x); text != "" {
		return fmt.Errorf("%w: %s", ErrLengths, text)
	}
	return nil
}
