package shapeops_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/naive"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// origins returns the origin of each dim of a plan's shape.
func origins(p *shapeops.Plan) []int {
	out := []int{}
	for dim := range p.Shape() {
		out = append(out, p.Origin(dim))
	}
	return out
}

// Going along a dim goes along the dim that Origin says, and no other; no dim is the origin of two.
func TestOriginFollowsElements(t *testing.T) {
	calls(t, func(t *testing.T, s shapeops.Shape, c naive.Call, p *shapeops.Plan) {
		got := origins(p)
		for dim, moved := range naive.New(s...).Origin(c.Want) {
			slanted := moved == -2 && (c.Verb == "gather" || c.Verb == "window") // by what is listed for each row
			if got[dim] >= 0 && moved != -1 && !slanted {
				require.Equal(t, moved, got[dim], "dim %d of %v of %v", dim, c, s)
			}
		}
		seen := slices.DeleteFunc(got, func(dim int) bool { return dim < 0 })
		slices.Sort(seen)
		require.Equal(t, slices.Compact(slices.Clone(seen)), seen, "%v of %v", c, s)
	})
}

// Each dim has a size of its own, so that it can be told where it went.
func TestOrigin(t *testing.T) {
	s := shapeops.Shape{2, 3, 5}
	starts := []int{0, 1}
	tests := []struct {
		name string
		got  outcome
		want []int
	}{
		{"all", of(s.Index()), []int{0, 1, 2}},
		{"a position drops its dim", of(s.Index(ix.All, ix.At(0))), []int{0, 2}},
		{"a range cuts its dim", of(s.Index(ix.Range(0, 1), ix.All, ix.Range(0, 4).Step(2))), []int{0, 1, 2}},
		{"a new dim has none", of(s.Index(ix.New, ix.All, ix.New, ix.Rest)), []int{-1, 0, -1, 1, 2}},
		{"a list keeps its dim", of(s.Index(ix.All, ix.Take(0, 0, 2, 1))), []int{0, 1, 2}},
		{"an empty list", of(s.Index(ix.Take())), []int{0, 1, 2}},
		{"a list of two dims is new", of(s.Index(ix.TakeND([]int{0, 1}, 2, 1))), []int{-1, -1, 1, 2}},
		{"two lists are one new dim", of(s.Index(ix.Take(0, 1), ix.All, ix.Take(1, 2))), []int{-1, 1}},
		{"a mask of one dim keeps it", of(s.Index(ix.All, ix.Mask([]bool{true, false, true}))), []int{0, 1, 2}},
		{"a mask of two dims is new", of(s.Index(ix.Mask(make([]bool, 6), 2, 3))), []int{-1, 2}},
		{"true is new", of(s.Index(ix.Bool(true))), []int{-1, 0, 1, 2}},
		{"a position and a list", of(s.Index(ix.At(1), ix.Take(2))), []int{1, 2}},
		{"reshape", of(s.Reshape(3, 2, 5)), []int{-1, -1, -1}},
		{"reshape to the same", of(s.Reshape(2, 3, 5)), []int{0, 1, 2}},
		{"flatten", of(s.Flatten(0, 1)), []int{-1, 2}},
		{"flatten the last", of(s.Flatten(1, 2)), []int{0, -1}},
		{"flatten one", of(s.Flatten(1, 1)), []int{0, 1, 2}},
		{"unflatten to one", of(s.Unflatten(1, 3)), []int{0, 1, 2}},
		{"unflatten", of(shapeops.Shape{2, 6, 5}.Unflatten(1, 3, 2)), []int{0, -1, -1, 2}},
		{"unflatten to no dim", of(shapeops.Shape{2, 1, 5}.Unflatten(1)), []int{0, 2}},
		{"permute", of(s.Permute(2, 0, 1)), []int{2, 0, 1}},
		{"transpose", of(s.Transpose(0, 2)), []int{2, 1, 0}},
		{"movedim", of(s.Movedim(0, -1)), []int{1, 2, 0}},
		{"squeeze", of(shapeops.Shape{2, 1, 5}.Squeeze()), []int{0, 2}},
		{"unsqueeze", of(s.Unsqueeze(1)), []int{0, -1, 1, 2}},
		{"unsqueeze last", of(s.Unsqueeze(-1)), []int{0, 1, 2, -1}},
		{"expand", of(shapeops.Shape{1, 3}.Expand(4, 2, 3)), []int{-1, 0, 1}},
		{"at least", of(s.AtLeast(5)), []int{-1, -1, 0, 1, 2}},
		{"narrow", of(s.Narrow(1, 1, 2)), []int{0, 1, 2}},
		{"unfold", of(s.Unfold(1, 2, 1)), []int{0, 1, -1, 2}},
		{"flip", of(s.Flip(1)), []int{0, 1, 2}},
		{"roll", of(s.Roll(1, 1)), []int{0, 1, 2}},
		{"a quarter", of(s.Rot90(1, 0, 2)), []int{2, 1, 0}},
		{"two quarters", of(s.Rot90(2, 0, 2)), []int{0, 1, 2}},
		{"repeat", of(s.Repeat(2, 1, 3)), []int{0, 1, 2}},
		{"repeat no time", of(s.Repeat(2, 0, 3)), []int{0, 1, 2}},
		{"tile with new dims", of(s.Tile(2, 2, 1, 3, 1)), []int{-1, -1, 0, 1, 2}},
		{"tile with new dims of no element", of(s.Tile(0, 2, 1, 3, 1)), []int{-1, -1, 0, 1, 2}},
		{"tile the last", of(s.Tile(7)), []int{0, 1, 2}},
		{"interleave", of(s.RepeatInterleave(2, 1)), []int{0, 1, 2}},
		{"each", of(s.RepeatEach([]int{1, 2, 0}, 1)), []int{0, 1, 2}},
		{"gather", of(s.Gather(1, []int{2, 0, 1, 1}, shapeops.Shape{2, 1, 2})), []int{0, 1, 2}},
		{"take", of(s.Take(1, []int{2, 0}, shapeops.Shape{2})), []int{0, 1, 2}},
		{"take one", of(s.Take(1, []int{2}, shapeops.Shape{})), []int{0, 2}},
		{"take in two dims", of(s.Take(1, []int{2, 0}, shapeops.Shape{2, 1})), []int{0, -1, -1, 2}},
		{"window", of(s.Window(1, starts, []int{2}, []int{4})), []int{0, 1, 2}},
		{"window of two dims", of(s.Window(1, []int{0, 1, 2, 3}, []int{2, 1}, []int{1, 0})), []int{0, 1, 2}},
		{"pad all", of(s.Pad(1, 0, -1, 2)), []int{0, 1, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, tt.got.err)
			require.Equal(t, tt.want, origins(tt.got.plan))
		})
	}
}
