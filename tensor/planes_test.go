package tensor_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A side is a view of a larger buffer, and the positions of its elements there.
type side struct {
	*tensor.Tensor
	array naive.Array
	mem   []byte
}

// permuted returns random elements of a shape. Their dims lie in a random order in memory, some
// with gaps, in memory that may be lent, and aligned for no dtype.
func permuted(t *testing.T, r *rand.Rand, d tensor.DType, sizes []int, seed int) side {
	order := r.Perm(len(sizes))
	base, back := make([]int, len(sizes)), make([]int, len(sizes))
	expr := make([]ix.Index, len(sizes))
	for i, dim := range order {
		base[i], expr[i], back[dim] = sizes[dim], ix.All, i
		switch r.IntN(6) {
		case 0:
			base[i], expr[i] = 2*sizes[dim], ix.Range(0, ix.End).Step(2)
		case 1:
			base[i], expr[i] = sizes[dim]+3, ix.Range(2, 2+sizes[dim])
		}
	}
	s := testkit.Make(t, d, base, testkit.Contiguous, testkit.Memories[r.IntN(3)], seed)
	array, ok := s.Array.Index(expr...)
	require.True(t, ok)
	x, err := s.Index(expr...)
	require.NoError(t, err)
	x, err = x.Permute(back...)
	require.NoError(t, err)
	return side{x, array.Permute(back...), s.Mem}
}

// TestPlanesAreNaive: copies between dims in any order, with steps, gaps and negative strides, of
// sizes beside blocks and tiles, are the copies element by element, and write nothing else.
func TestPlanesAreNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range longtests.Times(60, 3000) {
		d := testkit.Widths[r.IntN(len(testkit.Widths))]
		var sizes []int
		for range 2 + r.IntN(3) {
			sizes = append(sizes, []int{1, 2, 3, 4, 7, 8, 9, 16, 33, 64, 100, 257}[r.IntN(12)])
		}
		for naive.Size(sizes) > 1<<14 {
			sizes[slices.Index(sizes, slices.Max(sizes))] /= 2
		}
		from, to := permuted(t, r, d, sizes, 1), permuted(t, r, d, sizes, 50)
		array, dim := from.array, r.IntN(len(sizes))
		flip := r.IntN(3) == 0
		if flip {
			array = array.Flip(dim)
		}
		want := testkit.Scatter(to.mem, d.Size(), to.array, testkit.Gather(from.mem, d.Size(), array))
		if flip {
			require.NoError(t, shapeops.FlipInto(to.Tensor, from.Tensor, dim))
		} else {
			require.NoError(t, to.CopyFrom(from.Tensor))
		}
		require.True(t, string(want) == string(to.mem), "%v %v, strides %v to %v, flip %v", d, sizes, from.View().Strides, to.View().Strides, flip)
	}
}

// TestPlanesWithinOneMemory: a copy whose sides overlap reads its source as it was before, also
// where one side is the other one transposed.
func TestPlanesWithinOneMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{31, 64, 100} {
		for _, d := range testkit.Widths {
			s := testkit.Make(t, d, []int{n + 5, n + 9}, testkit.Contiguous, testkit.Go, 1)
			view := func() (*tensor.Tensor, naive.Array) {
				i, j := r.IntN(6), r.IntN(10)
				expr := []ix.Index{ix.Range(i, i+n), ix.Range(j, j+n)}
				x, err := s.Index(expr...)
				require.NoError(t, err)
				array, _ := s.Array.Index(expr...)
				return x, array
			}
			to, toArray := view()
			from, fromArray := view()
			from, err := from.Transpose(0, 1)
			require.NoError(t, err)
			want := s.Written(toArray, s.Want(fromArray.Permute(1, 0)))
			require.NoError(t, to.CopyFrom(from))
			require.True(t, string(want) == string(s.Mem), "%v, %d", d, n)
		}
	}
}

// TestPlanesOfOneSet: planes whose lines compete for one set of the cache go by planes also if
// items are wide.
func TestPlanesOfOneSet(t *testing.T) {
	for _, d := range testkit.Widths {
		s := testkit.Make(t, d, []int{70, 4096}, testkit.Contiguous, testkit.Go, 1)
		expr := []ix.Index{ix.All, ix.Range(3, 53)}
		array, _ := s.Array.Index(expr...)
		x := tensor.Must(tensor.Must(s.Index(expr...)).Transpose(0, 1))
		to := testkit.Make(t, d, []int{50, 70}, testkit.Contiguous, testkit.Unaligned, 50)
		want := to.Written(to.Array, s.Want(array.Permute(1, 0)))
		require.NoError(t, to.CopyFrom(x))
		require.True(t, string(want) == string(to.Mem), "%v", d)
	}
}
