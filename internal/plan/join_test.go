package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
)

// joinPlan returns the plan to stack or cat n values of a shape.
func joinPlan(n int, stack bool, dim int, s shape.Shape) *plan.Join {
	of := func(int) shape.Shape { return s }
	if stack {
		return must(plan.Stack(n, of, dim))
	}
	return must(plan.Cat(n, of, dim))
}

// Parts, one after the other, are the whole: written there, values make what a join of arrays
// makes.
func TestJoinPlanPart(t *testing.T) {
	for _, s := range testShapes {
		for dim := range len(s) + 1 {
			for _, stack := range []bool{true, false} {
				if dim == len(s) && !stack {
					continue
				}
				j, verb, start := joinPlan(3, stack, dim, s), naive.Cat, 0
				if stack {
					verb = naive.Stack
				}
				want := verb(naive.Number(s, s, s), dim)
				whole := naive.New(j.Shape()...)
				for i := range 3 {
					part := must(j.Part(start, s))
					require.Equal(t, s, part.Shape())
					got := must(must(plan.NewRows(whole.Shape...)).Execute(plan.NewPass(part)))
					n := 0
					for at := range got.All() {
						require.Equal(t, i*s.Size()+n, want.At[at], "%v, dim %d, value %d", s, dim, i)
						n++
					}
					start += j.Positions(s)
				}
				require.Equal(t, want.Shape[dim], start)
				for _, bad := range []int{-1, start, start - j.Positions(s) + 1} {
					if j.Positions(s) > 0 {
						require.ErrorIs(t, testkit.Err(j.Part(bad, s)), shape.ErrIndex, "from %d of %v", bad, j.Shape())
					}
				}
			}
		}
	}
	j := joinPlan(2, false, 1, shape.Shape{2, 3})
	testkit.Fails(t, shape.ErrShape, testkit.Err(j.Part(0, shape.Shape{2})))
}

var testShapes = []shape.Shape{{}, {0}, {1}, {2, 3}, {3, 0, 2}, {2, 1, 3}}

// Values that do not fill what the plan says are refused, not taken apart.
func TestJoinPlanCheck(t *testing.T) {
	j := joinPlan(2, false, 1, shape.Shape{2, 3})
	check := func(shapes ...shape.Shape) error {
		return j.Check(len(shapes), func(i int) shape.Shape { return shapes[i] })
	}
	require.NoError(t, check(shape.Shape{2, 3, 4}, shape.Shape{2, 3, 4}))
	for _, bad := range [][]shape.Shape{{{2, 3, 4}}, {{2, 3, 4}, {2, 4, 4}}, {{2, 3, 4}, {1, 3, 4}}, {{2, 3}, {2, 3}, {2, 3}}} {
		require.ErrorIs(t, check(bad...), shape.ErrShape, "%v", bad)
	}
	require.ErrorIs(t, check(shape.Shape{2, 3, 4}, shape.Shape{2, 3}), shape.ErrShape)
	testkit.Fails(t, shape.ErrShape, check(shape.Shape{2}, shape.Shape{2}))
}

// A zero pass, or one that joins otherwise, has nothing to pad.
func TestPlansThatDoNotPad(t *testing.T) {
	j := joinPlan(2, false, 0, shape.Shape{2})
	require.False(t, j.Padded())
	require.False(t, j.PadsLeft())
	_, ok := j.PadDim(shape.Shape{2}, true)
	require.False(t, ok)
	none := must(plan.Permute(shape.Shape{2}, 0))
	pieces, gaps := none.Pieces()
	require.Zero(t, pieces+gaps)
	require.False(t, none.Laid())
}
