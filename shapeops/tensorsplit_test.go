package shapeops_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// cutAt is torch's rule for tensor_split by positions: a slice between each and the next, where
// negative ones count from the end, those outside clamp, and an end before its start is the start.
func cutAt(a naive.Array, dim int, at []int) (out []naive.Array) {
	n := a.Shape[dim]
	place := func(i int) int {
		if i < 0 {
			i += n
		}
		return max(0, min(i, n))
	}
	start := 0
	for i := range len(at) + 1 {
		stop := n
		if i < len(at) {
			stop = place(at[i])
		}
		rows := []int{}
		for row := start; row < stop; row++ {
			rows = append(rows, row)
		}
		out, start = append(out, a.Keep(dim, rows)), stop
	}
	return out
}

func requirePieces(t *testing.T, want []naive.Array, got []*grid, about ...any) {
	t.Helper()
	require.Len(t, got, len(want), about...)
	for i, piece := range got {
		require.Equal(t, want[i].Shape, piece.Array.Shape, about...)
		require.Equal(t, append([]int{}, want[i].At...), append([]int{}, piece.At...), about...)
	}
}

// TestSplitAtIsNaive compares with torch's rule on random positions.
func TestSplitAtIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	for range 3000 {
		shape := []int{r.IntN(7), 1 + r.IntN(3), r.IntN(6)}
		dim := r.IntN(3)
		at := make([]int, r.IntN(5))
		for i := range at {
			at[i] = r.IntN(21) - 10
			if r.IntN(30) == 0 {
				at[i] = []int{math.MaxInt, math.MinInt, math.MaxInt - 1, math.MinInt + 1}[r.IntN(4)]
			}
		}
		got, err := shapeops.SplitAt(gridOf(shape...), dim-3*r.IntN(2), at...)
		require.NoError(t, err)
		requirePieces(t, cutAt(naive.New(shape...), dim, at), got, "%v at %v along %d", shape, at, dim)
	}
}

// TestTensorSplitIsNaive: sizes differ by one at most, the larger ones first, and add up.
func TestTensorSplitIsNaive(t *testing.T) {
	for size := range 14 {
		for n := 1; n < 17; n++ {
			for dim := range 2 {
				shape := []int{2, 2}
				shape[dim] = size
				sizes, left := []int{}, size
				for i := range n {
					piece := (left + n - i - 1) / (n - i)
					sizes, left = append(sizes, piece), left-piece
				}
				got, err := shapeops.TensorSplit(gridOf(shape...), dim-2, n)
				require.NoError(t, err)
				requirePieces(t, naive.New(shape...).Cut(dim, sizes...), got, "%d by %d", size, n)
			}
		}
	}
}

// TestTensorSplitShares: pieces of tensors and dictionaries share memory.
func TestTensorSplitShares(t *testing.T) {
	x := tensor.Vector[int64](0, 1, 2, 3, 4)
	td := tdict.New(5)
	require.NoError(t, td.Set("x", x))
	for _, pieces := range [][]*tdict.TensorDict{tensor.Must(shapeops.TensorSplit(td, 0, 3)), tensor.Must(shapeops.SplitAt(td, 0, 2, 4))} {
		require.Equal(t, "[2] [2] [1]", fmt.Sprint(pieces[0].Shape(), pieces[1].Shape(), pieces[2].Shape()))
		for _, piece := range pieces {
			require.True(t, tensor.Must(piece.Tensor("x")).SharesMemory(x))
		}
	}
	empty := tensor.Must(shapeops.SplitAt(x, 0, 4, 1))
	require.Equal(t, "[4] [0] [4]", fmt.Sprint(empty[0].Shape(), empty[1].Shape(), empty[2].Shape()))
}

func TestTensorSplitRefuses(t *testing.T) {
	var none *grid
	x := gridOf(2, 3)
	refuse(t, []refusal{
		{"no pieces", func(*grid) error { return testkit.Err(shapeops.TensorSplit(x, 0, 0)) }, shapeops.ErrShape},
		{"fewer than none", func(*grid) error { return testkit.Err(shapeops.TensorSplit(x, 0, -3)) }, shapeops.ErrShape},
		{"too many pieces", func(*grid) error { return testkit.Err(shapeops.TensorSplit(x, 0, 1<<24+1)) }, shapeops.ErrShape},
		{"no such dim", func(*grid) error { return testkit.Err(shapeops.TensorSplit(x, 2, 1)) }, shapeops.ErrDim},
		{"a scalar", func(*grid) error { return testkit.Err(shapeops.TensorSplit(gridOf(), 0, 1)) }, shapeops.ErrDim},
		{"nothing", func(*grid) error { return testkit.Err(shapeops.TensorSplit(none, 0, 1)) }, shapeops.ErrKind},
		{"no such dim to cut", func(*grid) error { return testkit.Err(shapeops.SplitAt(x, -3, 1)) }, shapeops.ErrDim},
		{"nothing to cut", func(*grid) error { return testkit.Err(shapeops.SplitAt(none, 0, 1)) }, shapeops.ErrKind},
	})
}
