package plan_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
)

func TestWindowRefuses(t *testing.T) {
	type list = []int
	s := shape.Shape{2, 5, 4}
	window := func(rank int, starts, dims, sizes list) outcome { return of(plan.Window(s, rank, starts, dims, sizes)) }
	tests := []struct {
		name string
		got  outcome
		err  error
	}{
		{"no rows", window(0, list{0}, list{1}, list{2}), shape.ErrDim},
		{"a negative number of rows", window(math.MinInt, list{0, 0}, list{1}, list{2}), shape.ErrDim},
		{"more dims of rows than there are", window(math.MaxInt, list{0, 0}, list{1}, list{2}), shape.ErrDim},
		{"along a dim of the rows", window(1, list{0, 0}, list{0}, list{1}), shape.ErrDim},
		{"along all dims, which are the rows", window(3, make(list, 40), list{2}, list{1}), shape.ErrDim},
		{"along no such dim", window(1, list{0, 0}, list{3}, list{1}), shape.ErrDim},
		{"along one dim twice", window(1, list{0, 0, 0, 0}, list{1, -2}, list{1, 1}), shape.ErrDim},
		{"along no dim", window(1, list{0, 0}, nil, nil), shape.ErrShape},
		{"too few sizes", window(1, list{0, 0, 0, 0}, list{1, 2}, list{1}), shape.ErrShape},
		{"too few starts", window(1, list{0}, list{1}, list{1}), shape.ErrShape},
		{"too many starts", window(1, list{0, 0, 0}, list{1}, list{1}), shape.ErrShape},
		{"starts for one of two dims", window(1, list{0, 0}, list{1, 2}, list{1, 1}), shape.ErrShape},
		{"a size that the dim lacks", window(1, list{0, 0}, list{1}, list{6}), shape.ErrIndex},
		{"a negative size", window(1, list{0, 0}, list{1}, list{-1}), shape.ErrIndex},
		{"the largest size", window(1, list{0, 0}, list{1}, list{math.MaxInt}), shape.ErrIndex},
		{"the smallest size", window(1, list{0, 0}, list{1}, list{math.MinInt}), shape.ErrIndex},
		{"a window that leaves the dim", window(1, list{3, 4}, list{1}, list{2}), shape.ErrIndex},
		{"a window before the dim", window(1, list{0, -1}, list{1}, list{2}), shape.ErrIndex},
		{"a window that leaves the second dim", window(1, list{0, 0, 0, 3}, list{1, 2}, list{5, 2}), shape.ErrIndex},
		{"an empty window after the end", window(1, list{5, 6}, list{1}, list{0}), shape.ErrIndex},
		{"windows of a bad shape", of(plan.Window(shape.Shape{-1, 2}, 1, nil, list{1}, list{1})), shape.ErrShape},
		{"the smallest start", window(1, list{0, math.MinInt}, list{1}, list{2}), shape.ErrIndex},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.err, tt.got.err) })
	}
}

// A start that is too large does not make the error say nonsense.
func TestWindowErrorOfTheLargestStart(t *testing.T) {
	err := testkit.Err(plan.Window(shape.Shape{1, 5}, 1, []int{math.MaxInt}, []int{1}, []int{2}))
	require.ErrorIs(t, err, shape.ErrIndex)
	require.NotContains(t, err.Error(), "-", "a position that is not there is negative")
}

// Without a row there is no start, along however many dims.
func TestWindowOfNoRows(t *testing.T) {
	var p *plan.Plan
	require.NotPanics(t, func() { p = must(plan.Window(shape.Shape{0, 5, 4}, 1, nil, []int{1, 2}, []int{2, 3})) })
	require.Equal(t, shape.Shape{0, 2, 3}, p.Shape())
}

func TestNarrowAndUnfoldRefuse(t *testing.T) {
	s := shape.Shape{2, 5}
	tests := []struct {
		name string
		got  outcome
		err  error
	}{
		{"narrow without such a dim", of(plan.Narrow(s, 2, 0, 1)), shape.ErrDim},
		{"narrow to more than there is", of(plan.Narrow(s, 1, 3, 3)), shape.ErrIndex},
		{"narrow from after the end", of(plan.Narrow(s, 1, 6, 0)), shape.ErrIndex},
		{"narrow from too far before the end", of(plan.Narrow(s, 1, -6, 1)), shape.ErrIndex},
		{"narrow beyond the end, from before it", of(plan.Narrow(s, 1, -1, 2)), shape.ErrIndex},
		{"narrow to a negative number", of(plan.Narrow(s, 1, 2, -1)), shape.ErrIndex},
		{"narrow to the largest number", of(plan.Narrow(s, 1, 1, math.MaxInt)), shape.ErrIndex},
		{"narrow to the smallest number", of(plan.Narrow(s, 1, 1, math.MinInt)), shape.ErrIndex},
		{"narrow from the largest start", of(plan.Narrow(s, 1, math.MaxInt, 1)), shape.ErrIndex},
		{"narrow from the smallest start", of(plan.Narrow(s, 1, math.MinInt, math.MaxInt)), shape.ErrIndex},
		{"unfold without such a dim", of(plan.Unfold(s, -3, 1, 1)), shape.ErrDim},
		{"unfold a scalar", of(plan.Unfold(shape.Shape{}, 0, 1, 1)), shape.ErrDim},
		{"unfold to windows larger than the dim", of(plan.Unfold(s, 1, 6, 1)), shape.ErrIndex},
		{"unfold an empty dim", of(plan.Unfold(shape.Shape{0}, 0, 1, 1)), shape.ErrIndex},
		{"unfold to empty windows", of(plan.Unfold(s, 1, 0, 1)), shape.ErrShape},
		{"unfold by no step", of(plan.Unfold(s, 1, 2, 0)), shape.ErrShape},
		{"unfold backwards", of(plan.Unfold(s, 1, 2, -1)), shape.ErrShape},
		{"unfold to the largest windows", of(plan.Unfold(s, 1, math.MaxInt, 1)), shape.ErrIndex},
		{"unfold to the smallest windows", of(plan.Unfold(s, 1, math.MinInt, math.MinInt)), shape.ErrShape},
		{"unfold to more elements than can be counted", of(plan.Unfold(shape.Shape{math.MaxInt}, 0, 1<<40, 1)), shape.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.err, tt.got.err) })
	}
	one := must(plan.Unfold(s, 1, 5, math.MaxInt))
	require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, numbers(one), "a single window needs no step")
}
