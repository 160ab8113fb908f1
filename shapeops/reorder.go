package shapeops

import (
	"github.com/go-tensordict/tensordict/internal/plan"
)

// Flip returns a copy of x with the order of positions reversed along the given dims; without dims,
// along all. It returns [ErrDim] if x has no such dim or a dim is given twice, and [ErrKind] if x
// is nil.
func Flip[T Value[T]](x T, dims ...int) (T, error) {
	return execute("flip", x, func(s Shape) (*plan.Plan, error) { return plan.Flip(s, dims...) })
}

// FlipInto is [Flip] into dst, which has the shape of the result; dst may be x itself, also if it
// is a locked dictionary. dst may share memory with the operands: FlipInto returns
// tensor.ErrOverlap if more than 64 MiB would have to be copied first. On an error nothing has
// changed.
func FlipInto[T Value[T]](dst, x T, dims ...int) error {
	return executeInto("flip", dst, x, func(s Shape) (*plan.Plan, error) { return plan.Flip(s, dims...) })
}

// Roll returns a copy of x with the positions of a dim shifted by shift; positions shifted past the
// end reappear at the beginning. A negative shift goes the other way, and a shift may be larger
// than the dim. Roll returns [ErrDim] if x has no such dim, and [ErrKind] if x is nil.
func Roll[T Value[T]](x T, dim, shift int) (T, error) {
	return execute("roll", x, func(s Shape) (*plan.Plan, error) { return plan.Roll(s, dim, shift) })
}

// Rot90 returns a copy of x with the plane of two dims rotated by quarters times 90 degrees, from
// the first dim towards the second, as NumPy's rot90 does. It returns [ErrDim] if x lacks one of
// the dims or they are the same, and [ErrKind] if x is nil.
func Rot90[T Value[T]](x T, first, second, quarters int) (T, error) {
	return execute("rot90", x, func(s Shape) (*plan.Plan, error) { return plan.Rot90(s, first, second, quarters) })
}

// AtLeast returns x with dims of size 1 inserted before the others until there are n dims. If x has
// n dims or more, it is returned unchanged. The result shares x's memory. AtLeast returns [ErrDim]
// if n is more than 1024, and [ErrKind] if x is nil.
func AtLeast[T Value[T]](x T, n int) (T, error) {
	return execute("at least", x, func(s Shape) (*plan.Plan, error) { return plan.AtLeast(s, n) })
}
