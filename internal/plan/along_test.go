package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// A plan cut at a dim, done row by row, gives what the whole plan gives.
func TestAlong(t *testing.T) {
	s := shape.Shape{3, 1, 4, 2}
	index := func(expr ...ix.Index) *plan.Plan { return must(plan.Index(s, expr...)) }
	two := []bool{true, false, true, true, false, false, true, true}
	tests := []struct {
		name string
		plan *plan.Plan
		dims []bool // at which it can be cut
	}{
		{"nothing", index(), []bool{true, true, true, true}},
		{"positions", index(ix.At(1), ix.All, ix.At(-1)), []bool{true, true, true, true}},
		{"ranges", index(ix.Range(1, 3), ix.New, ix.All, ix.Range(0, 4).Step(3)), []bool{true, true, true, true}},
		{"no position", index(ix.Range(2, 2)), []bool{true, true, true, true}},
		{"a list", index(ix.Take(2, 0, 2)), []bool{true, true, true, true}},
		{"a list of a later dim", index(ix.Range(0, 3).Step(2), ix.All, ix.Take(3, 1)), []bool{true, true, true, true}},
		{"a list of two dims", index(ix.TakeND([]int{2, 0, 1, 1}, 2, 2)), []bool{false, true, true, true}},
		{"a mask", index(ix.All, ix.All, ix.Mask([]bool{true, false, false, true})), []bool{true, true, true, true}},
		{"a mask of two dims", index(ix.All, ix.All, ix.Mask(two, 4, 2)), []bool{true, true, false, false}},
		{"two lists", index(ix.Take(2, 0), ix.All, ix.Take(1, 3)), []bool{false, true, false, true}},
		{"a list and a position", index(ix.Take(2, 0), ix.At(0), ix.At(2)), []bool{true, true, true, true}},
		{"another order", must(plan.Permute(s, 2, 0, 3, 1)), []bool{true, true, true, true}},
		{"one dim less", must(plan.Squeeze(s)), []bool{true, true, true, true}},
		{"one dim more", must(plan.Unsqueeze(s, 2)), []bool{true, true, true, true}},
		{"repeated", must(plan.Expand(s, 2, 3, 5, 4, 2)), []bool{true, true, true, true}},
		{"flat from dim 2", must(plan.Flatten(s, 2, 3)), []bool{true, true, false, false}},
		{"flat to dim 1", must(plan.Flatten(s, 0, 1)), []bool{true, false, true, true}},
		{"cut in two", must(plan.Unflatten(s, 2, 2, 2)), []bool{true, true, false, true}},
		{"turned", must(plan.Roll(s, 0, 1)), []bool{false, false, false, false}},
		{"windows", must(plan.Window(s, 1, []int{2, 0, 1}, []int{2}, []int{2})), []bool{false, true, false, true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := must(must(plan.NewRows(s...)).Execute(plan.NewPass(tt.plan)))
			for dim := range s {
				cut, ok := tt.plan.Along(dim)
				require.Equal(t, tt.dims[dim], ok, "dim %d", dim)
				if ok {
					requireRowByRow(t, want, cut, s, dim)
				}
			}
			cut, ok := tt.plan.Along(len(s) + 1)
			require.True(t, ok)
			require.Nil(t, cut.Rows)
			require.Equal(t, len(want.Shape())+1, cut.Dim, "a dim after those of the plan")
		})
	}
}

// The example in the comment of Along.
func TestAlongAsItSays(t *testing.T) {
	p := must(plan.Index(shape.Shape{4, 3, 5}, ix.Range(1, 3), ix.All, ix.At(0)))
	for dim, want := range []struct {
		rows     []int
		dim      int
		from, to shape.Shape
	}{
		{[]int{1, 2}, 0, shape.Shape{3, 5}, shape.Shape{3}},
		{nil, 1, shape.Shape{4, 5}, shape.Shape{2}},
		{[]int{0}, -1, shape.Shape{4, 3}, shape.Shape{2, 3}},
		{nil, 2, p.From(), p.Shape()},
	} {
		cut, ok := p.Along(dim)
		require.True(t, ok)
		require.Equal(t, want.rows, cut.Rows, "dim %d", dim)
		require.Equal(t, want.dim, cut.Dim, "dim %d", dim)
		require.Equal(t, want.from, cut.Rest.From(), "dim %d", dim)
		require.Equal(t, want.to, cut.Rest.Shape(), "dim %d", dim)
	}
}

// requireRowByRow checks that a cut says at each position of its dim what the plan gave there.
func requireRowByRow(t *testing.T, want *plan.Rows, cut plan.Cut, s shape.Shape, dim int) {
	t.Helper()
	rows := cut.Rows
	if rows == nil {
		for i := range s[dim] {
			rows = append(rows, i)
		}
	}
	at := func(of *plan.Rows, dim, i int) *plan.Rows {
		expr := append(make([]ix.Index, dim), ix.At(i))
		return must(of.Execute(pass(plan.Index(of.Shape(), expr...))))
	}
	for i, row := range rows {
		got := must(at(must(plan.NewRows(s...)), dim, row).Execute(plan.NewPass(cut.Rest)))
		part := want
		if cut.Dim >= 0 {
			part = at(want, cut.Dim, i)
		}
		require.True(t, part.Equal(got), "dim %d, position %d: got %v, want %v", dim, i, got, part)
	}
	if cut.Dim >= 0 {
		require.Equal(t, len(rows), want.Shape()[cut.Dim])
	} else {
		require.Len(t, rows, 1)
	}
}

func TestWhole(t *testing.T) {
	s := shape.Shape{3, 2}
	require.True(t, must(plan.Index(s)).Whole())
	require.True(t, must(plan.Index(nil)).Whole())
	for _, p := range []*plan.Plan{must(plan.Index(s, ix.Range(1, 3))), must(plan.Index(s, ix.Take(0, 1, 2))),
		must(plan.Permute(s, 1, 0)), must(plan.Unsqueeze(s, 0)), must(plan.Reshape(s, 6)), must(plan.Expand(s, 1, 3, 2))} {
		require.False(t, p.Whole(), p.String())
	}
}

func TestJoinWithout(t *testing.T) {
	of := func(int) shape.Shape { return shape.Shape{3, 4, 5} }
	stack, cat := must(plan.Stack(2, of, 1)), must(plan.Cat(2, of, 1))
	require.Equal(t, shape.Shape{2, 4, 5}, stack.Without(0).Shape())
	require.Equal(t, 0, stack.Without(0).Dim())
	require.Equal(t, shape.Shape{3, 2, 4}, stack.Without(3).Shape())
	require.Equal(t, shape.Shape{3, 8}, cat.Without(2).Shape())
	require.Equal(t, 1, cat.Without(2).Dim())
	require.Same(t, cat, cat.Without(3), "a dim after those of the plan")
}
