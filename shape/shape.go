package shape

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// What can be wrong with a shape, a dim, an index or an argument.
var (
	ErrShape = errors.New("shape mismatch")
	ErrDim   = errors.New("no such dim")
	ErrIndex = errors.New("bad index")
	ErrKind  = errors.New("wrong kind of value")
)

// A Shape lists the sizes of dims, outermost first. The empty Shape, nil or not, is the shape of a
// scalar. No method changes a Shape. Safe for concurrent use.
type Shape []int

// Check returns [ErrShape] if a size is negative, or if int does not hold the product of the sizes
// other than zero.
func (s Shape) Check() error {
	n := 1
	for _, size := range s {
		switch {
		case size < 0:
			return fmt.Errorf("%w: got %v, want no negative size", ErrShape, s)
		case size > 0 && n > math.MaxInt/size:
			return fmt.Errorf("%w: got %v, want at most %d elements", ErrShape, s, math.MaxInt)
		case size > 0:
			n *= size
		}
	}
	return nil
}

// Size returns the number of elements: the product of the sizes, 1 for a scalar. s must pass
// [Shape.Check].
func (s Shape) Size() int {
	n := 1
	for _, size := range s {
		n *= size
	}
	return n
}

// Position returns the position of row-major element i: one number for each dim. The element must
// exist.
func (s Shape) Position(i int) []int {
	pos := make([]int, len(s))
	for dim := len(s) - 1; dim >= 0; dim-- {
		pos[dim], i = i%s[dim], i/s[dim]
	}
	return pos
}

// Equal reports whether s and t have the same sizes.
func (s Shape) Equal(t Shape) bool { return slices.Equal(s, t) }

// HasPrefix reports whether s begins with the sizes of batch.
func (s Shape) HasPrefix(batch Shape) bool {
	return len(s) >= len(batch) && slices.Equal(s[:len(batch)], batch)
}

// CheckPrefix returns [ErrShape] unless s begins with the sizes of batch.
func (s Shape) CheckPrefix(batch Shape) error {
	if !s.HasPrefix(batch) {
		return fmt.Errorf("%w: got %v, want a shape that begins with %v", ErrShape, s, batch)
	}
	return nil
}

// CheckEqual returns [ErrShape] unless s equals want.
func (s Shape) CheckEqual(want Shape) error {
	if !s.Equal(want) {
		return fmt.Errorf("%w: got %v, want %v", ErrShape, s, want)
	}
	return nil
}

// Dim resolves a dim; a negative dim counts from the last, -1. It returns [ErrDim] if s has no such
// dim.
func (s Shape) Dim(dim int) (int, error) {
	if len(s) == 0 {
		return 0, fmt.Errorf("%w: got dim %d of shape [], which has no dims", ErrDim, dim)
	}
	if dim < -len(s) || dim >= len(s) {
		return 0, fmt.Errorf("%w: got dim %d of shape %v, want %d to %d", ErrDim, dim, s, -len(s), len(s)-1)
	}
	if dim < 0 {
		dim += len(s)
	}
	return dim, nil
}

// At resolves position i of dim, which s must have; a negative position counts from the end. It
// returns [ErrIndex] if the position is out of range.
func (s Shape) At(dim, i int) (int, error) {
	if size := s[dim]; i < -size || i >= size {
		return 0, fmt.Errorf("%w: got position %d of dim %d, which has size %d", ErrIndex, i, dim, size)
	}
	if i < 0 {
		i += s[dim]
	}
	return i, nil
}

// AppendStrides appends to dst the row-major strides of shape s. Dims of size 0 count as 1.
func (s Shape) AppendStrides(dst []int) []int {
	n := len(dst)
	dst = append(dst, s...)
	step := 1
	for i := len(s) - 1; i >= 0; i-- {
		dst[n+i] = step
		step *= max(s[i], 1)
	}
	return dst
}

// Clone returns a copy of s that is never nil.
func (s Shape) Clone() Shape { return append(make(Shape, 0, len(s)), s...) }

// String returns the sizes in brackets: "[3 224 224]".
func (s Shape) String() string { return fmt.Sprint([]int(s)) }

// Broadcast returns the shape that all the shapes broadcast to. They are aligned at their last
// dims; a dim that is missing or of size 1 takes the size of the others. It returns [ErrShape] if
// sizes differ otherwise.
func Broadcast(shapes ...Shape) (Shape, error) {
	n := 0
	for _, s := range shapes {
		n = max(n, len(s))
	}
	out := Shape(slices.Repeat([]int{1}, n))
	for _, s := range shapes {
		for i, size := range s {
			at := n - len(s) + i
			if size != 1 && out[at] != 1 && out[at] != size {
				return nil, fmt.Errorf("%w: %s do not broadcast", ErrShape, list(shapes))
			}
			if size != 1 {
				out[at] = size
			}
		}
	}
	return out, nil
}

func list(shapes []Shape) string {
	texts := make([]string, len(shapes))
	for i, s := range shapes {
		texts[i] = s.String()
	}
	return strings.Join(texts, " and ")
}

// A Run is a stretch of rows along dim 0 that is moved as one: Len rows from position From of the
// source to position To of the destination.
type Run struct{ To, From, Len int }

// Infer, as one of the sizes of a reshape, is computed from the number of elements; in an
// expand it keeps a dim as it is.
const Infer = -1
