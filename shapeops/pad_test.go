package shapeops_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
)

// Padding is shown as the number after the last element.
func TestPad(t *testing.T) {
	type shape = shapeops.Shape
	tests := []struct {
		name string
		got  outcome
		to   shape
		want []int
	}{
		{"the first dim first", of(shape{1, 2}.Pad(1, 0, 0, 1)), shape{2, 3}, []int{2, 2, 2, 0, 1, 2}},
		{"dims at the end are kept", of(shape{1, 2}.Pad(0, 1)), shape{2, 2}, []int{0, 1, 2, 2}},
		{"no size changes nothing", of(shape{2}.Pad()), shape{2}, []int{0, 1}},
		{"negative sizes take away", of(shape{3}.Pad(-1, -1)), shape{1}, []int{1}},
		{"take away at one end, add at the other", of(shape{3}.Pad(-2, 2)), shape{3}, []int{2, 3, 3}},
		{"take all away, and add", of(shape{2, 2}.Pad(-2, 1, 1, 0)), shape{1, 3}, []int{4, 4, 4}},
		{"take all away from the end, and add before", of(shape{2}.Pad(1, -2)), shape{1}, []int{2}},
		{"to no element", of(shape{2, 1}.Pad(-1, -1, 3, 3)), shape{0, 7}, []int{}},
		{"of no element", of(shape{0}.Pad(1, 1)), shape{2}, []int{0, 0}},
		{"of a scalar", of(shape{}.Pad()), shape{}, []int{0}},
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
	type shape = shapeops.Shape
	s := shape{2, 3}
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
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, shapeops.ErrShape, testkit.Err(s.Pad(tt.sizes...))) })
	}
	require.ErrorIs(t, testkit.Err(shape{}.Pad(1, 1)), shapeops.ErrShape)
	require.ErrorIs(t, testkit.Err(shape{-1}.Pad(1, 1)), shapeops.ErrShape)
}

// A piece or a gap that is not there is an error, with a plan of another kind, or none, too.
func TestNoSuchPiece(t *testing.T) {
	v := must(shapeops.Contiguous(shapeops.Shape{2}))
	for _, p := range []*shapeops.Pass{{}, shapeops.NewPass(must(shapeops.Shape{2}.Permute(0))), shapeops.NewPass(must(shapeops.Shape{2}.Flip()))} {
		for _, i := range []int{-1, 1} {
			_, err := p.Piece(i, v, v)
			require.ErrorIs(t, err, shapeops.ErrIndex)
			_, err = p.Gap(i, v)
			require.ErrorIs(t, err, shapeops.ErrIndex)
		}
	}
}
