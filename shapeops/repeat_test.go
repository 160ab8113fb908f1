package shapeops_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
)

func TestRepeatRefuses(t *testing.T) {
	type shape = shapeops.Shape
	s := shape{2, 3}
	tests := []struct {
		name string
		got  outcome
		err  error
	}{
		{"fewer counts than dims", of(s.Repeat(2)), shapeops.ErrShape},
		{"more counts than dims", of(s.Repeat(2, 1, 1)), shapeops.ErrShape},
		{"a negative count", of(s.Repeat(1, -1)), shapeops.ErrShape},
		{"the most negative count", of(s.Repeat(math.MinInt, 1)), shapeops.ErrShape},
		{"a count that overflows a dim", of(s.Repeat(math.MaxInt, 1)), shapeops.ErrShape},
		{"counts that overflow together", of(s.Repeat(math.MaxInt/4, 3)), shapeops.ErrShape},
		{"a negative count of a tile", of(s.Tile(-1)), shapeops.ErrShape},
		{"a new dim that overflows a tile", of(s.Tile(math.MaxInt, 1, 1)), shapeops.ErrShape},
		{"no such dim to interleave", of(s.RepeatInterleave(2, 2)), shapeops.ErrDim},
		{"a scalar to interleave", of(shape{}.RepeatInterleave(2, 0)), shapeops.ErrDim},
		{"a negative count to interleave", of(s.RepeatInterleave(-1, 0)), shapeops.ErrShape},
		{"a count to interleave that overflows", of(s.RepeatInterleave(math.MaxInt, 1)), shapeops.ErrShape},
		{"no such dim for each", of(s.RepeatEach([]int{1, 2}, -3)), shapeops.ErrDim},
		{"too few counts for each", of(s.RepeatEach([]int{1}, 0)), shapeops.ErrShape},
		{"no counts for each", of(s.RepeatEach(nil, 1)), shapeops.ErrShape},
		{"a negative count for each", of(s.RepeatEach([]int{1, -1}, 0)), shapeops.ErrShape},
		{"counts for each that no list holds", of(s.RepeatEach([]int{1 << 30, 1<<30 + 1}, 0)), shapeops.ErrShape},
		{"counts for each that overflow", of(s.RepeatEach([]int{math.MaxInt, math.MaxInt}, 0)), shapeops.ErrShape},
		{"counts for each that a negative one makes small", of(s.RepeatEach([]int{math.MaxInt, math.MinInt}, 0)), shapeops.ErrShape},
		{"repeat a bad shape", of(shape{-1}.Repeat(1)), shapeops.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.err, tt.got.err) })
	}
}

func TestRepeat(t *testing.T) {
	type shape = shapeops.Shape
	tests := []struct {
		name string
		got  outcome
		to   shape
		want []int
	}{
		{"repeat lays side by side", of(shape{2}.Repeat(2)), shape{4}, []int{0, 1, 0, 1}},
		{"interleave repeats next to itself", of(shape{2}.RepeatInterleave(2, -1)), shape{4}, []int{0, 0, 1, 1}},
		{"each as often as it says", of(shape{3}.RepeatEach([]int{2, 0, 1}, 0)), shape{3}, []int{0, 0, 2}},
		{"a tile counts from the last dim", of(shape{2, 1}.Tile(2)), shape{2, 2}, []int{0, 0, 1, 1}},
		{"more counts make new dims", of(shape{2}.Tile(2, 1)), shape{2, 2}, []int{0, 1, 0, 1}},
		{"a tile without a count", of(shape{2}.Tile()), shape{2}, []int{0, 1}},
		{"no time at all", of(shape{2, 3}.Repeat(0, 7)), shape{0, 21}, []int{}},
		{"a new dim of no time", of(shape{2}.Tile(0, 1)), shape{0, 2}, []int{}},
		{"a scalar", of(shape{}.Repeat()), shape{}, []int{0}},
		{"a scalar to a tile", of(shape{}.Tile(2)), shape{2}, []int{0, 0}},
		{"of no element, any number of times", of(shape{0}.Repeat(math.MaxInt)), shape{0}, []int{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, tt.got.err)
			require.Equal(t, tt.to, tt.got.plan.Shape().Clone())
			require.Equal(t, tt.want, numbers(tt.got.plan))
		})
	}
}

// What would list more rows than can be is refused, and so are more dims than anybody wants.
func TestTooMuchIsRefused(t *testing.T) {
	_, err := shapeops.Shape{1}.RepeatEach([]int{1 << 38}, 0)
	require.ErrorIs(t, err, shapeops.ErrShape)
	_, err = shapeops.Shape{1}.AtLeast(1 << 40)
	require.ErrorIs(t, err, shapeops.ErrDim)
}

// A number of dims that none can have adds none.
func TestAtLeastNone(t *testing.T) {
	for _, n := range []int{math.MinInt, -1, 0, 1} {
		require.Equal(t, shapeops.Shape{3}, must(shapeops.Shape{3}.AtLeast(n)).Shape().Clone())
	}
}
