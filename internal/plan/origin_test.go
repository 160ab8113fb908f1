package plan_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// origins returns the origin of each dim of a plan's shape.
func origins(p *plan.Plan) []int {
	out := []int{}
	for dim := range p.Shape() {
		out = append(out, p.Origin(dim))
	}
	return out
}

// Going along a dim goes along the dim that Origin says, and no other; no dim is the origin of two.
func TestOriginFollowsElements(t *testing.T) {
	calls(t, func(t *testing.T, s shape.Shape, c naive.Call, p *plan.Plan) {
		got := origins(p)
		for dim, moved := range naive.New(s...).Origin(c.Want) {
			slanted := moved == -2 && (c.Op == "gather" || c.Op == "window") // the list moves each row differently
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
	s := shape.Shape{2, 3, 5}
	starts := []int{0, 1}
	tests := []struct {
		name string
		got  outcome
		want []int
	}{
		{"all", of(plan.Index(s)), []int{0, 1, 2}},
		{"a position drops its dim", of(plan.Index(s, ix.All, ix.At(0))), []int{0, 2}},
		{"a range cuts its dim", of(plan.Index(s, ix.Range(0, 1), ix.All, ix.Range(0, 4).Step(2))), []int{0, 1, 2}},
		{"a new dim has none", of(plan.Index(s, ix.New, ix.All, ix.New, ix.Rest)), []int{-1, 0, -1, 1, 2}},
		{"a list keeps its dim", of(plan.Index(s, ix.All, ix.Take(0, 0, 2, 1))), []int{0, 1, 2}},
		{"an empty list", of(plan.Index(s, ix.Take())), []int{0, 1, 2}},
		{"a list of two dims is new", of(plan.Index(s, ix.TakeND([]int{0, 1}, 2, 1))), []int{-1, -1, 1, 2}},
		{"two lists are one new dim", of(plan.Index(s, ix.Take(0, 1), ix.All, ix.Take(1, 2))), []int{-1, 1}},
		{"a mask of one dim keeps it", of(plan.Index(s, ix.All, ix.Mask([]bool{true, false, true}))), []int{0, 1, 2}},
		{"a mask of two dims is new", of(plan.Index(s, ix.Mask(make([]bool, 6), 2, 3))), []int{-1, 2}},
		{"true is new", of(plan.Index(s, ix.Bool(true))), []int{-1, 0, 1, 2}},
		{"a position and a list", of(plan.Index(s, ix.At(1), ix.Take(2))), []int{1, 2}},
		{"reshape", of(plan.Reshape(s, 3, 2, 5)), []int{-1, -1, -1}},
		{"reshape to the same", of(plan.Reshape(s, 2, 3, 5)), []int{0, 1, 2}},
		{"flatten", of(plan.Flatten(s, 0, 1)), []int{-1, 2}},
		{"flatten the last", of(plan.Flatten(s, 1, 2)), []int{0, -1}},
		{"flatten one", of(plan.Flatten(s, 1, 1)), []int{0, 1, 2}},
		{"unflatten to one", of(plan.Unflatten(s, 1, 3)), []int{0, 1, 2}},
		{"unflatten", of(plan.Unflatten(shape.Shape{2, 6, 5}, 1, 3, 2)), []int{0, -1, -1, 2}},
		{"unflatten to no dim", of(plan.Unflatten(shape.Shape{2, 1, 5}, 1)), []int{0, 2}},
		{"permute", of(plan.Permute(s, 2, 0, 1)), []int{2, 0, 1}},
		{"transpose", of(plan.Transpose(s, 0, 2)), []int{2, 1, 0}},
		{"movedim", of(plan.Movedim(s, 0, -1)), []int{1, 2, 0}},
		{"squeeze", of(plan.Squeeze(shape.Shape{2, 1, 5})), []int{0, 2}},
		{"unsqueeze", of(plan.Unsqueeze(s, 1)), []int{0, -1, 1, 2}},
		{"unsqueeze last", of(plan.Unsqueeze(s, -1)), []int{0, 1, 2, -1}},
		{"expand", of(plan.Expand(shape.Shape{1, 3}, 4, 2, 3)), []int{-1, 0, 1}},
		{"at least", of(plan.AtLeast(s, 5)), []int{-1, -1, 0, 1, 2}},
		{"narrow", of(plan.Narrow(s, 1, 1, 2)), []int{0, 1, 2}},
		{"unfold", of(plan.Unfold(s, 1, 2, 1)), []int{0, 1, -1, 2}},
		{"flip", of(plan.Flip(s, 1)), []int{0, 1, 2}},
		{"roll", of(plan.Roll(s, 1, 1)), []int{0, 1, 2}},
		{"a quarter", of(plan.Rot90(s, 0, 2, 1)), []int{2, 1, 0}},
		{"two quarters", of(plan.Rot90(s, 0, 2, 2)), []int{0, 1, 2}},
		{"repeat", of(plan.Repeat(s, 2, 1, 3)), []int{0, 1, 2}},
		{"repeat no time", of(plan.Repeat(s, 2, 0, 3)), []int{0, 1, 2}},
		{"tile with new dims", of(plan.Tile(s, 2, 2, 1, 3, 1)), []int{-1, -1, 0, 1, 2}},
		{"tile with new dims of no element", of(plan.Tile(s, 0, 2, 1, 3, 1)), []int{-1, -1, 0, 1, 2}},
		{"tile the last", of(plan.Tile(s, 7)), []int{0, 1, 2}},
		{"interleave", of(plan.RepeatInterleave(s, 1, 2)), []int{0, 1, 2}},
		{"each", of(plan.RepeatEach(s, 1, []int{1, 2, 0})), []int{0, 1, 2}},
		{"gather", of(plan.Gather(s, 1, []int{2, 0, 1, 1}, shape.Shape{2, 1, 2})), []int{0, 1, 2}},
		{"take", of(plan.Take(s, 1, []int{2, 0}, shape.Shape{2})), []int{0, 1, 2}},
		{"take one", of(plan.Take(s, 1, []int{2}, shape.Shape{})), []int{0, 2}},
		{"take in two dims", of(plan.Take(s, 1, []int{2, 0}, shape.Shape{2, 1})), []int{0, -1, -1, 2}},
		{"window", of(plan.Window(s, 1, starts, []int{2}, []int{4})), []int{0, 1, 2}},
		{"window of two dims", of(plan.Window(s, 1, []int{0, 1, 2, 3}, []int{2, 1}, []int{1, 0})), []int{0, 1, 2}},
		{"pad all", of(plan.Pad(s, 1, 0, -1, 2)), []int{0, 1, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, tt.got.err)
			require.Equal(t, tt.want, origins(tt.got.plan))
		})
	}
}
