package plan_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
)

func TestRepeatRefuses(t *testing.T) {
	s := shape.Shape{2, 3}
	tests := []struct {
		name string
		got  outcome
		err  error
	}{
		{"fewer counts than dims", of(plan.Repeat(s, 2)), shape.ErrShape},
		{"more counts than dims", of(plan.Repeat(s, 2, 1, 1)), shape.ErrShape},
		{"a negative count", of(plan.Repeat(s, 1, -1)), shape.ErrShape},
		{"the most negative count", of(plan.Repeat(s, math.MinInt, 1)), shape.ErrShape},
		{"a count that overflows a dim", of(plan.Repeat(s, math.MaxInt, 1)), shape.ErrShape},
		{"counts that overflow together", of(plan.Repeat(s, math.MaxInt/4, 3)), shape.ErrShape},
		{"a negative count of a tile", of(plan.Tile(s, -1)), shape.ErrShape},
		{"a new dim that overflows a tile", of(plan.Tile(s, math.MaxInt, 1, 1)), shape.ErrShape},
		{"no such dim to interleave", of(plan.RepeatInterleave(s, 2, 2)), shape.ErrDim},
		{"a scalar to interleave", of(plan.RepeatInterleave(shape.Shape{}, 0, 2)), shape.ErrDim},
		{"a negative count to interleave", of(plan.RepeatInterleave(s, 0, -1)), shape.ErrShape},
		{"a count to interleave that overflows", of(plan.RepeatInterleave(s, 1, math.MaxInt)), shape.ErrShape},
		{"no such dim for each", of(plan.RepeatEach(s, -3, []int{1, 2})), shape.ErrDim},
		{"too few counts for each", of(plan.RepeatEach(s, 0, []int{1})), shape.ErrShape},
		{"no counts for each", of(plan.RepeatEach(s, 1, nil)), shape.ErrShape},
		{"a negative count for each", of(plan.RepeatEach(s, 0, []int{1, -1})), shape.ErrShape},
		{"counts for each that no list holds", of(plan.RepeatEach(s, 0, []int{1 << 30, 1<<30 + 1})), shape.ErrShape},
		{"counts for each that overflow", of(plan.RepeatEach(s, 0, []int{math.MaxInt, math.MaxInt})), shape.ErrShape},
		{"counts for each that a negative one makes small", of(plan.RepeatEach(s, 0, []int{math.MaxInt, math.MinInt})), shape.ErrShape},
		{"repeat a bad shape", of(plan.Repeat(shape.Shape{-1}, 1)), shape.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.err, tt.got.err) })
	}
}

func TestRepeat(t *testing.T) {
	tests := []struct {
		name string
		got  outcome
		to   shape.Shape
		want []int
	}{
		{"repeat lays side by side", of(plan.Repeat(shape.Shape{2}, 2)), shape.Shape{4}, []int{0, 1, 0, 1}},
		{"interleave repeats next to itself", of(plan.RepeatInterleave(shape.Shape{2}, -1, 2)), shape.Shape{4}, []int{0, 0, 1, 1}},
		{"each as often as it says", of(plan.RepeatEach(shape.Shape{3}, 0, []int{2, 0, 1})), shape.Shape{3}, []int{0, 0, 2}},
		{"a tile counts from the last dim", of(plan.Tile(shape.Shape{2, 1}, 2)), shape.Shape{2, 2}, []int{0, 0, 1, 1}},
		{"more counts make new dims", of(plan.Tile(shape.Shape{2}, 2, 1)), shape.Shape{2, 2}, []int{0, 1, 0, 1}},
		{"a tile without a count", of(plan.Tile(shape.Shape{2})), shape.Shape{2}, []int{0, 1}},
		{"no time at all", of(plan.Repeat(shape.Shape{2, 3}, 0, 7)), shape.Shape{0, 21}, []int{}},
		{"a new dim of no time", of(plan.Tile(shape.Shape{2}, 0, 1)), shape.Shape{0, 2}, []int{}},
		{"a scalar", of(plan.Repeat(shape.Shape{})), shape.Shape{}, []int{0}},
		{"a scalar to a tile", of(plan.Tile(shape.Shape{}, 2)), shape.Shape{2}, []int{0, 0}},
		{"of no element, any number of times", of(plan.Repeat(shape.Shape{0}, math.MaxInt)), shape.Shape{0}, []int{}},
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
	_, err := plan.RepeatEach(shape.Shape{1}, 0, []int{1 << 38})
	require.ErrorIs(t, err, shape.ErrShape)
	_, err = plan.AtLeast(shape.Shape{1}, 1<<40)
	require.ErrorIs(t, err, shape.ErrDim)
}

// A number of dims that none can have adds none.
func TestAtLeastNone(t *testing.T) {
	for _, n := range []int{math.MinInt, -1, 0, 1} {
		require.Equal(t, shape.Shape{3}, must(plan.AtLeast(shape.Shape{3}, n)).Shape().Clone())
	}
}
