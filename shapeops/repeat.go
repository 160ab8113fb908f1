package shapeops

import "github.com/go-tensordict/tensordict/internal/plan"

// Repeat returns x repeated counts[i] times along dim i:
//
//	[A B], 2, 3 -> [2*A 3*B]
//
// The result is a copy. Repeat returns [ErrShape] unless there is a count for each dim, none
// negative, and [ErrKind] if x is nil.
func Repeat[T Value[T]](x T, counts ...int) (T, error) {
	return execute("repeat", x, func(s Shape) (*plan.Plan, error) { return plan.Repeat(s, counts...) })
}

// Tile is [Repeat] with counts aligned at the last dim, as in torch: dims without a count are not
// repeated, and if there are more counts than dims, dims of size 1 are inserted first.
func Tile[T Value[T]](x T, counts ...int) (T, error) {
	return execute("tile", x, func(s Shape) (*plan.Plan, error) { return plan.Tile(s, counts...) })
}

// RepeatInterleave returns x with each position of a dim repeated count times, next to itself:
//
//	[A N B] -> [A N*count B]
//
// The result is a copy. RepeatInterleave returns [ErrDim] if x has no such dim, [ErrShape] if count
// is negative, and [ErrKind] if x is nil. [RepeatEach] takes a count for each position.
func RepeatInterleave[T Value[T]](x T, dim, count int) (T, error) {
	return execute("repeat interleave", x, func(s Shape) (*plan.Plan, error) { return plan.RepeatInterleave(s, dim, count) })
}

// RepeatEach returns x with position i of a dim repeated counts[i] times, next to itself:
//
//	[A N B] -> [A counts[0]+...+counts[N-1] B]
//
// The result is a copy. RepeatEach returns [ErrDim] if x has no such dim, [ErrShape] unless there
// is a count for each position, none negative, and they add up to at most 1<<31, and [ErrKind] if x
// is nil.
func RepeatEach[T Value[T]](x T, dim int, counts []int) (T, error) {
	return execute("repeat each", x, func(s Shape) (*plan.Plan, error) { return plan.RepeatEach(s, dim, counts) })
}
