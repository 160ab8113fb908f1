package plan_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
)

// Padding is shown as the number after the last element.
func TestPad(t *testing.T) {
	tests := []struct {
		name string
		got  outcome
		to   shape.Shape
		want []int
	}{
		{"the first dim first", of(plan.Pad(shape.Shape{1, 2}, 1, 0, 0, 1)), shape.Shape{2, 3}, []int{2, 2, 2, 0, 1, 2}},
		{"dims at the end are kept", of(plan.Pad(shape.Shape{1, 2}, 0, 1)), shape.Shape{2, 2}, []int{0, 1, 2, 2}},
		{"no size changes nothing", of(plan.Pad(shape.Shape{2})), shape.Shape{2}, []int{0, 1}},
		{"negative sizes take away", of(plan.Pad(shape.Shape{3}, -1, -1)), shape.Shape{1}, []int{1}},
		{"take away at one end, add at the other", of(plan.Pad(shape.Shape{3}, -2, 2)), shape.Shape{3}, []int{2, 3, 3}},
		{"take all away, and add", of(plan.Pad(shape.Shape{2, 2}, -2, 1, 1, 0)), shape.Shape{1, 3}, []int{4, 4, 4}},
		{"take all away from the end, and add before", of(plan.Pad(shape.Shape{2}, 1, -2)), shape.Shape{1}, []int{2}},
		{"to no element", of(plan.Pad(shape.Shape{2, 1}, -1, -1, 3, 3)), shape.Shape{0, 7}, []int{}},
		{"of no element", of(plan.Pad(shape.Shape{0}, 1, 1)), shape.Shape{2}, []int{0, 0}},
		{"of a scalar", of(plan.Pad(shape.Shape{})), shape.Shape{}, []int{0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, tt.got.err)
			require.Equal(t, tt.to, tt.got.plan.Shape().Clone())
			require.Equal(t, tt.want, numbers(tt.got.plan))
		})
	}
}

func TestPadRefuses(t *testing.T) {
	s := shape.Shape{2, 3}
	tests := []struct {
		name  string
		sizes []int
	}{
		{"an odd number of sizes", []int{1, 1, 1}},
		{"more sizes than dims have", []int{0, 0, 0, 0, 0, 0}},
		{"more taken before than there is", []int{-3, 0}},
		{"more taken after than there is", []int{0, 0, 0, -4}},
		{"more taken from both ends than there is", []int{-1, -2}},
		{"more taken than there is, and enough added", []int{-3, 9}},
		{"as much taken as can be", []int{math.MinInt, 0}},
		{"as much taken from both ends as can be", []int{math.MinInt, math.MinInt}},
		{"taken and added as much as can be", []int{math.MinInt, math.MaxInt}},
		{"as much added as can be", []int{math.MaxInt, 0}},
		{"as much added to both ends as can be", []int{math.MaxInt, math.MaxInt}},
		{"so much added that elements cannot be counted", []int{math.MaxInt / 2, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, shape.ErrShape, testkit.Err(plan.Pad(s, tt.sizes...))) })
	}
	require.ErrorIs(t, testkit.Err(plan.Pad(shape.Shape{}, 1, 1)), shape.ErrShape)
	require.ErrorIs(t, testkit.Err(plan.Pad(shape.Shape{-1}, 1, 1)), shape.ErrShape)
}

// A piece or a gap that is not there is an error, with a plan of another kind, or none, too.
func TestNoSuchPiece(t *testing.T) {
	v := must(shape.Contiguous(shape.Shape{2}))
	for _, p := range []*plan.Pass{{}, plan.NewPass(must(plan.Permute(shape.Shape{2}, 0))), plan.NewPass(must(plan.Flip(shape.Shape{2})))} {
		for _, i := range []int{-1, 1} {
			_, err := p.Piece(i, v, v)
			require.ErrorIs(t, err, shape.ErrIndex)
			_, err = p.Gap(i, v)
			require.ErrorIs(t, err, shape.ErrIndex)
		}
	}
}
