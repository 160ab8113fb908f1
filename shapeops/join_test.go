package shapeops_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/naive"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// A grid is an array as a value that is joined and cut.
type grid struct {
	naive.Array
	bad error // what it says about its contents
}

func gridOf(shape ...int) *grid { return &grid{Array: naive.New(shape...)} }

// Shape returns the shape.
func (g *grid) Shape() shapeops.Shape { return g.Array.Shape }

// Index implements shapeops.Indexer.
func (g *grid) Index(expr ...ix.Index) (*grid, error) {
	a, ok := g.Array.Index(expr...)
	if !ok {
		return nil, shapeops.ErrIndex
	}
	return &grid{Array: a}, g.bad
}

// Join implements shapeops.Joiner: it adapts join.
func (g *grid) Join(j shapeops.JoinPlan, xs []*grid, into *grid) (*grid, error) {
	out, err := join(j, xs)
	if err != nil || into == nil {
		return out, err
	}
	into.Array = out.Array
	return into, nil
}

// join does what a plan says, and checks it.
func join(j shapeops.JoinPlan, xs []*grid) (*grid, error) {
	filled, verb, arrays := 0, naive.Cat, []naive.Array{}
	for _, x := range xs {
		if x.bad != nil {
			return nil, x.bad
		}
		filled += j.Positions(x.Shape())
		arrays = append(arrays, x.Array)
	}
	if j.New {
		verb = naive.Stack
	}
	a := verb(arrays, j.Dim)
	if filled != j.Shape[j.Dim] || j.Rank() != len(xs[0].Shape()) || !j.Shape.Equal(a.Shape) {
		return nil, fmt.Errorf("got plan %+v for %d positions of %v", j, filled, a.Shape)
	}
	return &grid{Array: a}, nil
}

func TestJoin(t *testing.T) {
	type shapes = [][]int
	type verb struct {
		join func(xs []*grid, dim int) (*grid, error)
		into func(dst *grid, xs []*grid, dim int) error
	}
	stack := verb{shapeops.Stack[*grid], shapeops.StackInto[*grid]}
	cat := verb{shapeops.Cat[*grid], shapeops.CatInto[*grid]}
	tests := []struct {
		name   string
		verb   verb
		shapes shapes // of values whose elements are numbered on
		dim    int
		want   naive.Array
	}{
		{"stack in front", stack, shapes{{2}, {2}}, 0, naive.Array{Shape: []int{2, 2}, At: []int{0, 1, 2, 3}}},
		{"stack last", stack, shapes{{2}, {2}}, 1, naive.Array{Shape: []int{2, 2}, At: []int{0, 2, 1, 3}}},
		{"stack counts the dims of the result", stack, shapes{{2}, {2}}, -1, naive.Array{Shape: []int{2, 2}, At: []int{0, 2, 1, 3}}},
		{"stack in between", stack, shapes{{2, 1}, {2, 1}}, 1, naive.Array{Shape: []int{2, 2, 1}, At: []int{0, 2, 1, 3}}},
		{"stack of scalars", stack, shapes{{}, {}, {}}, 0, naive.Array{Shape: []int{3}, At: []int{0, 1, 2}}},
		{"stack of one", stack, shapes{{2}}, 0, naive.Array{Shape: []int{1, 2}, At: []int{0, 1}}},
		{"stack of no element", stack, shapes{{0}, {0}}, 0, naive.Array{Shape: []int{2, 0}, At: []int{}}},
		{"cat lengthens a dim", cat, shapes{{2}, {1}}, 0, naive.Array{Shape: []int{3}, At: []int{0, 1, 2}}},
		{"cat counts from the end", cat, shapes{{2, 1}, {2, 2}}, -1, naive.Array{Shape: []int{2, 3}, At: []int{0, 2, 3, 1, 4, 5}}},
		{"cat of sizes 0", cat, shapes{{0}, {2}, {0}}, 0, naive.Array{Shape: []int{2}, At: []int{0, 1}}},
		{"cat of one", cat, shapes{{2}}, 0, naive.New(2)},
		{"cat beside an empty dim", cat, shapes{{2, 0}, {1, 0}}, 0, naive.Array{Shape: []int{3, 0}, At: []int{}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			xs := []*grid{}
			for _, a := range naive.Number(tt.shapes...) {
				xs = append(xs, &grid{Array: a})
			}
			got, err := tt.verb.join(xs, tt.dim)
			require.NoError(t, err)
			require.Equal(t, tt.want, got.Array)
			dst := gridOf(tt.want.Shape...)
			require.NoError(t, tt.verb.into(dst, xs, tt.dim))
			require.Equal(t, tt.want, dst.Array)
		})
	}
}

var errBad = errors.New("bad contents")

// huge is an array whose sizes no test should touch.
func huge(shape ...int) *grid { return &grid{Array: naive.Array{Shape: shape}} }

func TestJoinRefuses(t *testing.T) {
	type list = []*grid
	x, bad := gridOf(2, 3), &grid{Array: naive.New(2, 3), bad: errBad}
	stack := func(dim int, xs ...*grid) func(*grid) error {
		return func(*grid) error { return testkit.Err(shapeops.Stack(xs, dim)) }
	}
	cat := func(dim int, xs ...*grid) func(*grid) error {
		return func(*grid) error { return testkit.Err(shapeops.Cat(xs, dim)) }
	}
	refuse(t, []refusal{
		{"stack nothing", stack(0), shapeops.ErrShape},
		{"stack different shapes", stack(0, x, gridOf(3)), shapeops.ErrShape},
		{"stack never broadcasts", stack(0, x, gridOf(1, 3)), shapeops.ErrShape},
		{"stack too far out", stack(3, x, x), shapeops.ErrDim},
		{"stack too far in front", stack(-4, x, x), shapeops.ErrDim},
		{"stack sizes that overflow", stack(0, huge(math.MaxInt), huge(math.MaxInt)), shapeops.ErrShape},
		{"stack what has bad contents", stack(0, x, bad), errBad},
		{"stack into another shape", func(dst *grid) error { return shapeops.StackInto(dst, list{gridOf(3)}, 0) }, shapeops.ErrShape},
		{"stack nothing into", func(dst *grid) error { return shapeops.StackInto(dst, list{}, 0) }, shapeops.ErrShape},
		{"stack into no destination", func(*grid) error { return shapeops.StackInto(nil, list{gridOf(3)}, 0) }, shapeops.ErrShape},
		{"stack what has bad contents into", func(*grid) error { return shapeops.StackInto(gridOf(1, 2, 3), list{bad}, 0) }, errBad},
		{"cat nothing", cat(0), shapeops.ErrShape},
		{"cat different shapes", cat(0, x, gridOf(2, 4)), shapeops.ErrShape},
		{"cat different ranks", cat(0, x, gridOf(2)), shapeops.ErrShape},
		{"cat scalars", cat(0, gridOf()), shapeops.ErrDim},
		{"cat too far out", cat(2, x), shapeops.ErrDim},
		{"cat sizes whose sum overflows", cat(0, huge(math.MaxInt), huge(math.MaxInt)), shapeops.ErrShape},
		{"cat sizes that overflow", cat(0, huge(math.MaxInt/4, 4), huge(math.MaxInt/4, 4)), shapeops.ErrShape},
		{"cat what has bad contents", cat(0, x, bad), errBad},
		{"cat into another shape", func(dst *grid) error { return shapeops.CatInto(dst, list{x, x}, 0) }, shapeops.ErrShape},
		{"cat nothing into", func(dst *grid) error { return shapeops.CatInto(dst, list{}, 0) }, shapeops.ErrShape},
		{"cat into no destination", func(*grid) error { return shapeops.CatInto(nil, list{x}, 0) }, shapeops.ErrShape},
	})
}

type refusal = testkit.Refusal[*grid]

// refuse runs operations on a grid [2 3] that must fail.
func refuse(t *testing.T, rows []refusal) {
	state := func(_ testing.TB, g *grid) string { return fmt.Sprint(g.Array) }
	testkit.Refuse(t, func() *grid { return gridOf(2, 3) }, state, rows)
}
