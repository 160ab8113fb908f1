package shapeops_test

import (
	"math"
	"testing"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
)

func TestGatherRefuses(t *testing.T) {
	type shape = shapeops.Shape
	s := shape{2, 3}
	tests := []struct {
		name string
		got  outcome
		err  error
	}{
		{"no such dim", of(s.Gather(2, []int{0}, shape{1, 1})), shapeops.ErrDim},
		{"a scalar", of(shape{}.Gather(0, []int{0}, shape{})), shapeops.ErrDim},
		{"an index of fewer dims", of(s.Gather(0, []int{0}, shape{1})), shapeops.ErrShape},
		{"an index of more dims", of(s.Gather(0, []int{0}, shape{1, 1, 1})), shapeops.ErrShape},
		{"an index that is larger than another dim", of(s.Gather(0, make([]int, 4), shape{1, 4})), shapeops.ErrShape},
		{"an index of a negative size", of(s.Gather(0, nil, shape{-1, 1})), shapeops.ErrShape},
		{"an index of negative sizes", of(s.Gather(0, []int{0}, shape{-1, -1})), shapeops.ErrShape},
		{"an index with too few elements", of(s.Gather(0, []int{0}, shape{1, 2})), shapeops.ErrShape},
		{"an index that is as large as can be", of(s.Gather(1, nil, shape{2, math.MaxInt})), shapeops.ErrShape},
		{"the position after the last", of(s.Gather(1, []int{0, 1, 2, 3}, shape{2, 2})), shapeops.ErrIndex},
		{"the position before the first", of(s.Gather(1, []int{0, 1, -4, 2}, shape{2, 2})), shapeops.ErrIndex},
		{"the largest position", of(s.Gather(0, []int{math.MaxInt}, shape{1, 1})), shapeops.ErrIndex},
		{"the smallest position", of(s.Gather(0, []int{math.MinInt}, shape{1, 1})), shapeops.ErrIndex},
		{"a position of an empty dim", of(shape{0}.Gather(0, []int{0}, shape{1})), shapeops.ErrIndex},
		{"gather from a bad shape", of(shape{-1}.Gather(0, nil, shape{0})), shapeops.ErrShape},
		{"take from no such dim", of(s.Take(-3, []int{0}, shape{1})), shapeops.ErrDim},
		{"take the position after the last", of(s.Take(1, []int{2, 3}, shape{2})), shapeops.ErrIndex},
		{"take the smallest position", of(s.Take(1, []int{math.MinInt}, shape{1, 1})), shapeops.ErrIndex},
		{"take no position of a scalar shape", of(s.Take(1, nil, shape{})), shapeops.ErrShape},
		{"take another number of positions", of(s.Take(1, []int{0}, shape{2})), shapeops.ErrShape},
		{"take by a negative size", of(s.Take(1, nil, shape{-1})), shapeops.ErrShape},
		{"take by negative sizes", of(s.Take(1, []int{0}, shape{-1, -1})), shapeops.ErrShape},
		{"take by sizes that overflow to as many", of(s.Take(1, nil, shape{1 << 32, 1 << 32})), shapeops.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.err, tt.got.err) })
	}
}
