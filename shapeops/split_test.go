package shapeops_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/naive"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
)

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
		{"split nil", func(*grid) error { return testkit.Err(shapeops.Split((*grid)(nil), 0, 1)) }, shapeops.ErrKind},
		{"split nil by a size", func(*grid) error { return testkit.Err(shapeops.SplitBy((*grid)(nil), 0, 1)) }, shapeops.ErrKind},
		{"chunk nil", func(*grid) error { return testkit.Err(shapeops.Chunk((*grid)(nil), 0, 1)) }, shapeops.ErrKind},
		{"unbind nil", func(*grid) error { return testkit.Err(shapeops.Unbind((*grid)(nil), 0)) }, shapeops.ErrKind},
		{"no chunk", chunk(1, 0), shapeops.ErrShape},
		{"chunk no such dim", chunk(2, 3), shapeops.ErrDim},
		{"unbind no such dim", func(g *grid) error { return testkit.Err(shapeops.Unbind(g, -3)) }, shapeops.ErrDim},
		{"unbind into more pieces than anybody wants", func(*grid) error { return testkit.Err(shapeops.Unbind(huge(math.MaxInt), 0)) }, shapeops.ErrShape},
	})
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
			testkit.MaxBytes(t, 1<<12, func() { _, _ = tt.cut(x) })
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
			chunks, err := shapeops.Chunk(x, dim, 2)
			require.NoError(t, err)
			again, err := shapeops.Cat(chunks, dim)
			require.NoError(t, err)
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
