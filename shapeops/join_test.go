package shapeops_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
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

// Ops implements shapeops.Value.
func (g *grid) Ops() tensor.Ops[*grid] { return gridOps{} }

// gridOps are the operations of a grid that joins call.
type gridOps struct{ tensor.Ops[*grid] }

// Join implements tensor.Ops: it adapts join.
func (gridOps) Join(p *plan.Pass, xs []*grid) (*grid, error) { return join(p.Join, xs) }

// JoinInto implements tensor.Ops.
func (gridOps) JoinInto(p *plan.Pass, dst *grid, xs []*grid) error {
	out, err := join(p.Join, xs)
	if err == nil {
		dst.Array = out.Array
	}
	return err
}

// join does what a plan says, and checks it.
func join(j *plan.Join, xs []*grid) (*grid, error) {
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

func TestCut(t *testing.T) {
	x, deep := gridOf(5), gridOf(2, 3)
	tests := []struct {
		name string
		got  func() ([]*grid, error)
		want []naive.Array
	}{
		{"split into sizes", func() ([]*grid, error) { return shapeops.Split(x, 0, 2, 0, 3) }, x.Cut(0, 2, 0, 3)},
		{"split counts from the end", func() ([]*grid, error) { return shapeops.Split(deep, -1, 1, 2) }, deep.Cut(1, 1, 2)},
		{"split an empty dim", func() ([]*grid, error) { return shapeops.Split(gridOf(0), 0, 0, 0) }, gridOf(0).Cut(0, 0, 0)},
		{"split by a size, the last smaller", func() ([]*grid, error) { return shapeops.SplitBy(x, 0, 2) }, x.Cut(0, 2, 2, 1)},
		{"split by a size that fits", func() ([]*grid, error) { return shapeops.SplitBy(deep, 0, 1) }, deep.Cut(0, 1, 1)},
		{"split by more than there is", func() ([]*grid, error) { return shapeops.SplitBy(x, 0, math.MaxInt) }, x.Cut(0, 5)},
		{"chunk, the last smaller", func() ([]*grid, error) { return shapeops.Chunk(x, 0, 2) }, x.Cut(0, 3, 2)},
		{"chunk into equal pieces", func() ([]*grid, error) { return shapeops.Chunk(gridOf(4), 0, 2) }, gridOf(4).Cut(0, 2, 2)},
		{"chunk into fewer", func() ([]*grid, error) { return shapeops.Chunk(x, 0, 4) }, x.Cut(0, 2, 2, 1)},
		{"chunk into no more than there are", func() ([]*grid, error) { return shapeops.Chunk(deep, 1, 99) }, deep.Cut(1, 1, 1, 1)},
		{"chunk an empty dim", func() ([]*grid, error) { return shapeops.Chunk(gridOf(0, 2), 0, 3) }, gridOf(0, 2).Cut(0, 0)},
		{"unbind drops the dim", func() ([]*grid, error) { return shapeops.Unbind(deep, -1) },
			[]naive.Array{{Shape: []int{2}, At: []int{0, 3}}, {Shape: []int{2}, At: []int{1, 4}}, {Shape: []int{2}, At: []int{2, 5}}}},
		{"unbind an empty dim", func() ([]*grid, error) { return shapeops.Unbind(gridOf(0, 2), 0) }, []naive.Array{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pieces, err := tt.got()
			require.NoError(t, err)
			got := []naive.Array{}
			for _, piece := range pieces {
				got = append(got, piece.Array)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestCutRefuses(t *testing.T) {
	split := func(dim int, sizes ...int) func(*grid) error {
		return func(g *grid) error { return testkit.Err(shapeops.Split(g, dim, sizes...)) }
	}
	splitBy := func(dim, size int) func(*grid) error {
		return func(g *grid) error { return testkit.Err(shapeops.SplitBy(g, dim, size)) }
	}
	chunk := func(dim, n int) func(*grid) error {
		return func(g *grid) error { return testkit.Err(shapeops.Chunk(g, dim, n)) }
	}
	refuse(t, []refusal{
		{"split into too little", split(1, 1, 1), shapeops.ErrShape},
		{"split into too much", split(1, 1, 3), shapeops.ErrShape},
		{"split into no piece", split(1), shapeops.ErrShape},
		{"split into a negative piece", split(1, 4, -1), shapeops.ErrShape},
		{"split into pieces whose sum overflows", split(1, math.MaxInt, math.MaxInt, 5), shapeops.ErrShape},
		{"split no such dim", split(2, 3), shapeops.ErrDim},
		{"split a negative size", func(*grid) error { return testkit.Err(shapeops.Split(huge(-1), 0, -1)) }, shapeops.ErrShape},
		{"split what has bad contents", func(*grid) error {
			return testkit.Err(shapeops.Split(&grid{Array: naive.New(1), bad: errBad}, 0, 1))
		}, errBad},
		{"split by nothing", splitBy(1, 0), shapeops.ErrShape},
		{"split by a negative size", splitBy(1, -1), shapeops.ErrShape},
		{"split an empty dim by a size", func(*grid) error { return testkit.Err(shapeops.SplitBy(gridOf(0), 0, 1)) }, shapeops.ErrShape},
		{"split by, no such dim", splitBy(2, 3), shapeops.ErrDim},
		{"split into more pieces than anybody wants", func(*grid) error {
			return testkit.Err(shapeops.SplitBy(huge(math.MaxInt), 0, 1))
		}, shapeops.ErrShape},
		{"no chunk", chunk(1, 0), shapeops.ErrShape},
		{"chunk no such dim", chunk(2, 3), shapeops.ErrDim},
		{"unbind no such dim", func(g *grid) error { return testkit.Err(shapeops.Unbind(g, -3)) }, shapeops.ErrDim},
		{"unbind into more pieces than anybody wants", func(*grid) error { return testkit.Err(shapeops.Unbind(huge(math.MaxInt), 0)) }, shapeops.ErrShape},
	})
	for _, cut := range []func(*grid) error{split(0, 1), splitBy(0, 1), chunk(0, 1), func(g *grid) error { return testkit.Err(shapeops.Unbind(g, 0)) }} {
		require.ErrorIs(t, cut(nil), shapeops.ErrKind)
	}
}

// A shape without elements may have any number of positions: cutting it asks for no memory before
// it is refused, and an empty dim beside the one that is cut does not matter.
func TestCutsOfEmptyShapesAreBounded(t *testing.T) {
	cuts := []struct {
		name string
		cut  func(x *grid) ([]*grid, error)
	}{
		{"split by", func(x *grid) ([]*grid, error) { return shapeops.SplitBy(x, 0, 1) }},
		{"chunk", func(x *grid) ([]*grid, error) { return shapeops.Chunk(x, 0, math.MaxInt) }},
		{"unbind", func(x *grid) ([]*grid, error) { return shapeops.Unbind(x, 0) }},
	}
	for _, tt := range cuts {
		t.Run(tt.name, func(t *testing.T) {
			x := gridOf(1<<30, 0)
			// A list of the pieces would take gigabytes; the runtime takes some kilobytes now and
			// then.
			testkit.MaxBytes(t, 1<<16, func() { _, _ = tt.cut(x) })
			testkit.Fails(t, shapeops.ErrShape, testkit.Err(tt.cut(x)))
			require.ErrorIs(t, testkit.Err(tt.cut(gridOf(1<<24+1, 0))), shapeops.ErrShape)
			pieces, err := tt.cut(gridOf(1000, 0))
			require.NoError(t, err)
			require.Len(t, pieces, 1000)
		})
	}
}

// Pieces laid side by side again are what was cut.
func TestCutAndJoin(t *testing.T) {
	for _, shape := range [][]int{{1}, {5}, {2, 3}, {3, 0, 2}, {2, 1, 4}} {
		x := gridOf(shape...)
		for dim := range shape {
			chunks := tensor.Must(shapeops.Chunk(x, dim, 2))
			again := tensor.Must(shapeops.Cat(chunks, dim))
			require.Equal(t, x, again)
			rows, err := shapeops.Unbind(x, dim)
			require.NoError(t, err)
			if len(rows) == 0 {
				continue
			}
			again, err = shapeops.Stack(rows, dim)
			require.NoError(t, err)
			require.Equal(t, x, again)
		}
	}
}
