package plan_test

import (
	"math"
	"testing"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
)

func TestGatherRefuses(t *testing.T) {
	s := shape.Shape{2, 3}
	tests := []struct {
		name string
		got  outcome
		err  error
	}{
		{"no such dim", of(plan.Gather(s, 2, []int{0}, shape.Shape{1, 1})), shape.ErrDim},
		{"a scalar", of(plan.Gather(shape.Shape{}, 0, []int{0}, shape.Shape{})), shape.ErrDim},
		{"an index of fewer dims", of(plan.Gather(s, 0, []int{0}, shape.Shape{1})), shape.ErrShape},
		{"an index of more dims", of(plan.Gather(s, 0, []int{0}, shape.Shape{1, 1, 1})), shape.ErrShape},
		{"an index that is larger than another dim", of(plan.Gather(s, 0, make([]int, 4), shape.Shape{1, 4})), shape.ErrShape},
		{"an index of a negative size", of(plan.Gather(s, 0, nil, shape.Shape{-1, 1})), shape.ErrShape},
		{"an index of negative sizes", of(plan.Gather(s, 0, []int{0}, shape.Shape{-1, -1})), shape.ErrShape},
		{"an index with too few elements", of(plan.Gather(s, 0, []int{0}, shape.Shape{1, 2})), shape.ErrShape},
		{"an index that is as large as can be", of(plan.Gather(s, 1, nil, shape.Shape{2, math.MaxInt})), shape.ErrShape},
		{"the position after the last", of(plan.Gather(s, 1, []int{0, 1, 2, 3}, shape.Shape{2, 2})), shape.ErrIndex},
		{"the position before the first", of(plan.Gather(s, 1, []int{0, 1, -4, 2}, shape.Shape{2, 2})), shape.ErrIndex},
		{"the largest position", of(plan.Gather(s, 0, []int{math.MaxInt}, shape.Shape{1, 1})), shape.ErrIndex},
		{"the smallest position", of(plan.Gather(s, 0, []int{math.MinInt}, shape.Shape{1, 1})), shape.ErrIndex},
		{"a position of an empty dim", of(plan.Gather(shape.Shape{0}, 0, []int{0}, shape.Shape{1})), shape.ErrIndex},
		{"gather from a bad shape", of(plan.Gather(shape.Shape{-1}, 0, nil, shape.Shape{0})), shape.ErrShape},
		{"take from no such dim", of(plan.Take(s, -3, []int{0}, shape.Shape{1})), shape.ErrDim},
		{"take the position after the last", of(plan.Take(s, 1, []int{2, 3}, shape.Shape{2})), shape.ErrIndex},
		{"take the smallest position", of(plan.Take(s, 1, []int{math.MinInt}, shape.Shape{1, 1})), shape.ErrIndex},
		{"take no position of a scalar shape", of(plan.Take(s, 1, nil, shape.Shape{})), shape.ErrShape},
		{"take another number of positions", of(plan.Take(s, 1, []int{0}, shape.Shape{2})), shape.ErrShape},
		{"take by a negative size", of(plan.Take(s, 1, nil, shape.Shape{-1})), shape.ErrShape},
		{"take by negative sizes", of(plan.Take(s, 1, []int{0}, shape.Shape{-1, -1})), shape.ErrShape},
		{"take by sizes that overflow to as many", of(plan.Take(s, 1, nil, shape.Shape{1 << 32, 1 << 32})), shape.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.err, tt.got.err) })
	}
}
