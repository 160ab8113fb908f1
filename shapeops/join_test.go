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
func (g *grid) Join(p *shapeops.Pass, xs []*grid) (*grid, error) { return join(p.Join, xs) }

// JoinInto implements shapeops.IntoJoiner.
func (g *grid) JoinInto(p *shapeops.Pass, dst *grid, xs []*grid) error {
	out, err := join(p.Join, xs)
	if err == nil {
		dst.Array = out.Array
	}
	return err
}

// join does what a plan says, and checks it.
func join(j *shapeops.JoinPlan, xs []*grid) (*grid, error) {
	filled, verb, arrays := 0, naive.Cat, []naive.Array{}
	for _, x := range xs {
		if x.bad != nil {
			return nil, x.bad
		}
		filled += j.Positions(x.Shape())
		arrays = append(arrays, x.Array)
	}
	if j.New() {
		verb = naive.Stack
	}
	a := verb(arrays, j.Dim())
	if filled != j.Shape()[j.Dim()] || j.Rank() != len(xs[0].Shape()) || !j.Shape().Equal(a.Shape) {
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
		{"stack into no destination", func(*grid) error { return shapeops.StackInto(nil, list{gridOf(3)}, 0) }, shapeops.ErrKind},
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
		{"cat into no destination", func(*grid) error { return shapeops.CatInto(nil, list{x}, 0) }, shapeops.ErrKind},
	})
}

type refusal = testkit.Refusal[*grid]

// refuse runs operations on a grid [2 3] that must fail.
func refuse(t *testing.T, rows []refusal) {
	state := func(_ testing.TB, g *grid) string { return fmt.Sprint(g.Array) }
	testkit.Refuse(t, func() *grid { return gridOf(2, 3) }, state, rows)
}

// A captive is a value that gives away how it is to be joined.
type captive struct {
	shape shapeops.Shape
	plan  *shapeops.JoinPlan
}

// Shape returns the shape.
func (c *captive) Shape() shapeops.Shape { return c.shape }

// Join implements shapeops.Joiner.
func (c *captive) Join(p *shapeops.Pass, _ []*captive) (*captive, error) {
	return &captive{c.shape, p.Join}, nil
}

// joinPlan returns the plan to stack or cat n values of a shape.
func joinPlan(n int, stack bool, dim int, shape shapeops.Shape) *shapeops.JoinPlan {
	xs := make([]*captive, n)
	for i := range xs {
		xs[i] = &captive{shape: shape}
	}
	if stack {
		return must(shapeops.Stack(xs, dim)).plan
	}
	return must(shapeops.Cat(xs, dim)).plan
}

// Parts, one after the other, are the whole: written there, values make what a join of arrays
// makes.
func TestJoinPlanPart(t *testing.T) {
	for _, shape := range testShapes {
		for dim := range len(shape) + 1 {
			for _, stack := range []bool{true, false} {
				if dim == len(shape) && !stack {
					continue
				}
				j, verb, start := joinPlan(3, stack, dim, shape), naive.Cat, 0
				if stack {
					verb = naive.Stack
				}
				want := verb(naive.Number(shape, shape, shape), dim)
				whole := naive.New(j.Shape()...)
				for i := range 3 {
					part := must(j.Part(start, shape))
					require.Equal(t, shape, part.Shape())
					got := must(must(shapeops.NewRows(whole.Shape...)).Execute(shapeops.NewPass(part)))
					n := 0
					for at := range got.All() {
						require.Equal(t, i*shape.Size()+n, want.At[at], "%v, dim %d, value %d", shape, dim, i)
						n++
					}
					start += j.Positions(shape)
				}
				require.Equal(t, want.Shape[dim], start)
				for _, bad := range []int{-1, start, start - j.Positions(shape) + 1} {
					if j.Positions(shape) > 0 {
						require.ErrorIs(t, testkit.Err(j.Part(bad, shape)), shapeops.ErrIndex, "from %d of %v", bad, j.Shape())
					}
				}
			}
		}
	}
	j := joinPlan(2, false, 1, shapeops.Shape{2, 3})
	testkit.Fails(t, shapeops.ErrShape, testkit.Err(j.Part(0, shapeops.Shape{2})))
}

var testShapes = []shapeops.Shape{{}, {0}, {1}, {2, 3}, {3, 0, 2}, {2, 1, 3}}

// Values that do not fill what the plan says are refused, not taken apart.
func TestJoinPlanCheck(t *testing.T) {
	j := joinPlan(2, false, 1, shapeops.Shape{2, 3})
	check := func(shapes ...shapeops.Shape) error {
		return j.Check(len(shapes), func(i int) shapeops.Shape { return shapes[i] })
	}
	require.NoError(t, check(shapeops.Shape{2, 3, 4}, shapeops.Shape{2, 3, 4}))
	for _, bad := range [][]shapeops.Shape{{{2, 3, 4}}, {{2, 3, 4}, {2, 4, 4}}, {{2, 3, 4}, {1, 3, 4}}, {{2, 3}, {2, 3}, {2, 3}}} {
		require.ErrorIs(t, check(bad...), shapeops.ErrShape, "%v", bad)
	}
	require.ErrorIs(t, check(shapeops.Shape{2, 3, 4}, shapeops.Shape{2, 3}), shapeops.ErrShape)
	testkit.Fails(t, shapeops.ErrShape, check(shapeops.Shape{2}, shapeops.Shape{2}))
}
