package plan

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shape"
)

// A Spot is a range of N rows of a level, beginning with First, or a single row. Level 0 is the
// batch.
type Spot struct {
	Level    int
	First, N int
	Single   bool
}

// Step moves to row i of the range; a negative i counts from the end. It returns [shape.ErrIndex]
// if there is no such row.
func (s *Spot) Step(i int) error {
	at := i
	if at < 0 {
		at += s.N
	}
	if at < 0 || at >= s.N {
		return fmt.Errorf("%w: level %d: got row %d of %d", shape.ErrIndex, s.Level, i, s.N)
	}
	s.First, s.N, s.Single = s.First+at, 1, true
	return nil
}

// Narrow moves to a part of the range, with the rules of Python's slices.
func (s *Spot) Narrow(start, stop int) {
	lo := Clamp(start, s.N)
	s.First, s.N = s.First+lo, max(0, Clamp(stop, s.N)-lo)
}

// Enter moves from a single row to the rows inside it: those from offsets[row] up to, not
// including, offsets[row+1] of the next level.
func (s *Spot) Enter(offsets []int64) {
	from, to := int(offsets[s.First]), int(offsets[s.First+1])
	*s = Spot{Level: s.Level + 1, First: from, N: to - from}
}

// Parts are parts of values of type T whose rows contain rows, to be padded together, beginning
// with rows of a level.
type Parts[T any] struct {
	Names  []string // of the values, for errors
	Values []T
	// Rows has nil for a value with that level or more. For another value it has the rows that
	// stand for it, one for each part.
	Rows  [][]int
	Level int
	Runs  []shape.Run // the rows of the level: From and Len
	Apart bool        // each run becomes one row, padded to the longest, instead of Len rows
}
