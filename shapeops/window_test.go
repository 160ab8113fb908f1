package shapeops_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
)

func TestWindowRefuses(t *testing.T) {
	type (
		shape = shapeops.Shape
		list  = []int
	)
	s := shape{2, 5, 4}
	window := func(rank int, starts, dims, sizes list) outcome { return of(s.Window(rank, starts, dims, sizes)) }
	tests := []struct {
		name string
		got  outcome
		err  error
	}{
		{"no rows", window(0, list{0}, list{1}, list{2}), shapeops.ErrDim},
		{"a negative number of rows", window(math.MinInt, list{0, 0}, list{1}, list{2}), shapeops.ErrDim},
		{"more dims of rows than there are", window(math.MaxInt, list{0, 0}, list{1}, list{2}), shapeops.ErrDim},
		{"along a dim of the rows", window(1, list{0, 0}, list{0}, list{1}), shapeops.ErrDim},
		{"along all dims, which are the rows", window(3, make(list, 40), list{2}, list{1}), shapeops.ErrDim},
		{"along no such dim", window(1, list{0, 0}, list{3}, list{1}), shapeops.ErrDim},
		{"along one dim twice", window(1, list{0, 0, 0, 0}, list{1, -2}, list{1, 1}), shapeops.ErrDim},
		{"along no dim", window(1, list{0, 0}, nil, nil), shapeops.ErrShape},
		{"too few sizes", window(1, list{0, 0, 0, 0}, list{1, 2}, list{1}), shapeops.ErrShape},
		{"too few starts", window(1, list{0}, list{1}, list{1}), shapeops.ErrShape},
		{"too many starts", window(1, list{0, 0, 0}, list{1}, list{1}), shapeops.ErrShape},
		{"starts for one of two dims", window(1, list{0, 0}, list{1, 2}, list{1, 1}), shapeops.ErrShape},
		{"a size that the dim lacks", window(1, list{0, 0}, list{1}, list{6}), shapeops.ErrIndex},
		{"a negative size", window(1, list{0, 0}, list{1}, list{-1}), shapeops.ErrIndex},
		{"the largest size", window(1, list{0, 0}, list{1}, list{math.MaxInt}), shapeops.ErrIndex},
		{"the smallest size", window(1, list{0, 0}, list{1}, list{math.MinInt}), shapeops.ErrIndex},
		{"a window that leaves the dim", window(1, list{3, 4}, list{1}, list{2}), shapeops.ErrIndex},
		{"a window before the dim", window(1, list{0, -1}, list{1}, list{2}), shapeops.ErrIndex},
		{"a window that leaves the second dim", window(1, list{0, 0, 0, 3}, list{1, 2}, list{5, 2}), shapeops.ErrIndex},
		{"an empty window after the end", window(1, list{5, 6}, list{1}, list{0}), shapeops.ErrIndex},
		{"windows of a bad shape", of(shape{-1, 2}.Window(1, nil, list{1}, list{1})), shapeops.ErrShape},
		{"the smallest start", window(1, list{0, math.MinInt}, list{1}, list{2}), shapeops.ErrIndex},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.err, tt.got.err) })
	}
}

// A start that is too large does not make the error say nonsense.
func TestWindowErrorOfTheLargestStart(t *testing.T) {
	err := testkit.Err(shapeops.Shape{1, 5}.Window(1, []int{math.MaxInt}, []int{1}, []int{2}))
	require.ErrorIs(t, err, shapeops.ErrIndex)
	require.NotContains(t, err.Error(), "-", "a position that is not there is negative")
}

// Without a row there is no start, along however many dims.
func TestWindowOfNoRows(t *testing.T) {
	var p *shapeops.Plan
	require.NotPanics(t, func() { p = must(shapeops.Shape{0, 5, 4}.Window(1, nil, []int{1, 2}, []int{2, 3})) })
	require.Equal(t, shapeops.Shape{0, 2, 3}, p.Shape())
}

func TestNarrowAndUnfoldRefuse(t *testing.T) {
	s := shapeops.Shape{2, 5}
	tests := []struct {
		name string
		got  outcome
		err  error
	}{
		{"narrow without such a dim", of(s.Narrow(2, 0, 1)), shapeops.ErrDim},
		{"narrow to more than there is", of(s.Narrow(1, 3, 3)), shapeops.ErrIndex},
		{"narrow from after the end", of(s.Narrow(1, 6, 0)), shapeops.ErrIndex},
		{"narrow from too far before the end", of(s.Narrow(1, -6, 1)), shapeops.ErrIndex},
		{"narrow beyond the end, from before it", of(s.Narrow(1, -1, 2)), shapeops.ErrIndex},
		{"narrow to a negative number", of(s.Narrow(1, 2, -1)), shapeops.ErrIndex},
		{"narrow to the largest number", of(s.Narrow(1, 1, math.MaxInt)), shapeops.ErrIndex},
		{"narrow to the smallest number", of(s.Narrow(1, 1, math.MinInt)), shapeops.ErrIndex},
		{"narrow from the largest start", of(s.Narrow(1, math.MaxInt, 1)), shapeops.ErrIndex},
		{"narrow from the smallest start", of(s.Narrow(1, math.MinInt, math.MaxInt)), shapeops.ErrIndex},
		{"unfold without such a dim", of(s.Unfold(-3, 1, 1)), shapeops.ErrDim},
		{"unfold a scalar", of(shapeops.Shape{}.Unfold(0, 1, 1)), shapeops.ErrDim},
		{"unfold to windows larger than the dim", of(s.Unfold(1, 6, 1)), shapeops.ErrIndex},
		{"unfold an empty dim", of(shapeops.Shape{0}.Unfold(0, 1, 1)), shapeops.ErrIndex},
		{"unfold to empty windows", of(s.Unfold(1, 0, 1)), shapeops.ErrShape},
		{"unfold by no step", of(s.Unfold(1, 2, 0)), shapeops.ErrShape},
		{"unfold backwards", of(s.Unfold(1, 2, -1)), shapeops.ErrShape},
		{"unfold to the largest windows", of(s.Unfold(1, math.MaxInt, 1)), shapeops.ErrIndex},
		{"unfold to the smallest windows", of(s.Unfold(1, math.MinInt, math.MinInt)), shapeops.ErrShape},
		{"unfold to more elements than can be counted", of(shapeops.Shape{math.MaxInt}.Unfold(0, 1<<40, 1)), shapeops.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.err, tt.got.err) })
	}
	one := must(s.Unfold(1, 5, math.MaxInt))
	require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, numbers(one), "a single window needs no step")
}
