package tensor_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestIndexOracle compares Index, IndexInto and SetIndex with nested loops, on random expressions
// over every shape and layout.
func TestIndexOracle(t *testing.T) {
	const rounds = 150
	r, good := rand.New(rand.NewPCG(7, 9)), 0
	for _, l := range testkit.Layouts {
		for _, shape := range testkit.Shapes {
			for range rounds {
				m, d := oneOf(r, testkit.Memories), oneOf(r, testkit.Widths)
				s, expr := testkit.Make(t, d, shape, l, m, 0), naive.Expr(r, shape)
				about := fmt.Sprintf("[%s] of %s %v in %s memory", ix.Format(expr...), l.Name, s, m.Name)
				want, ok := s.Array.Index(expr...)
				got, err := s.Index(expr...)
				if !ok {
					require.ErrorIs(t, err, shapeops.ErrIndex, about)
					continue
				}
				require.NoError(t, err, about)
				equals(t, got, want.Shape, s.Want(want), about)
				checkIndexInto(t, s, want, expr, oneOf(r, testkit.Layouts[:3]), about)
				checkSetIndex(t, s, want, expr, oneOf(r, testkit.Layouts), about)
				good++
			}
		}
	}
	require.Greater(t, good, 2500, "most expressions are good ones")
}

func oneOf[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// equals checks a tensor's shape and the bytes of its elements.
func equals(t *testing.T, x *tensor.Tensor, shape []int, content []byte, about ...any) {
	t.Helper()
	require.Equal(t, shapeops.Shape(shape), x.Shape(), about...)
	require.Equal(t, content, testkit.Content(t, x), about...)
}

// checkIndexInto reads into a destination of a given layout, and looks at the whole of its memory.
func checkIndexInto(t *testing.T, s testkit.Specimen, want naive.Array, expr []ix.Index, l testkit.Layout, about string) {
	t.Helper()
	dst := testkit.Make(t, s.DType(), want.Shape, l, testkit.Go, 50)
	after := dst.Written(dst.Array, s.Want(want))
	require.NoError(t, s.IndexInto(dst.Tensor, expr...), "%s into %s", about, l.Name)
	require.Equal(t, after, dst.Mem, "%s into %s", about, l.Name)
}

// checkSetIndex writes a value of a given layout, and looks at the whole of s's memory.
func checkSetIndex(t *testing.T, s testkit.Specimen, want naive.Array, expr []ix.Index, l testkit.Layout, about string) {
	t.Helper()
	value := testkit.Make(t, s.DType(), want.Shape, l, testkit.Go, 50)
	after := s.Written(want, value.Want(value.Array))
	if refusesWrites(t, s, s.SetIndex(value.Tensor, expr...)) {
		return
	}
	require.Equal(t, after, s.Mem, "%s set from %s", about, l.Name)
}

// Rearranging a tensor keeps its elements and their order, whether the result is a view or a copy.
func TestReshapeOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	testkit.Specimens(t, func(t *testing.T, s testkit.Specimen) {
		for range 4 {
			to := naive.Factors(r, s.Size())
			got := tensor.Must(s.Reshape(to...))
			equals(t, got, to, s.Want(s.Array), "%v to %v", s, to)
			for dim := range to {
				cut := tensor.Must(got.Unflatten(dim, 1, to[dim]))
				equals(t, tensor.Must(cut.Flatten(dim, dim+1)), to, s.Want(s.Array), "%v to %v", s, to)
			}
			order := r.Perm(len(s.Array.Shape))
			turned := s.Array.Permute(order...)
			equals(t, tensor.Must(s.Permute(order...)), turned.Shape, s.Want(turned), "%v by %v", s, order)
		}
	})
}

func TestSetIndexBroadcastsAndRepeats(t *testing.T) {
	x, value := tensor.Must(tensor.Zeros[int8](3, 2)), tensor.Must(tensor.From([]int8{1, 2, 3}, 3, 1))
	require.NoError(t, x.SetIndex(value, ix.Take(2, 0, 2)))
	require.Equal(t, "int8 [3 2]\n[[2 2]\n [0 0]\n [3 3]]", x.String(), "the last value written stays")
	require.NoError(t, x.SetIndex(tensor.Scalar[int8](9), ix.All, ix.At(1)))
	require.Equal(t, "int8 [3 2]\n[[2 9]\n [0 9]\n [3 9]]", x.String())
}

func TestAsIndex(t *testing.T) {
	turned := tensor.Must(tensor.Must(tensor.From([]uint8{2, 0, 0, 1}, 2, 2)).Transpose(0, 1))
	mask := tensor.Must(tensor.From([]bool{true, false, true, false}, 2, 2))
	tests := []struct {
		name string
		x    *tensor.Tensor
		want string
	}{
		{"integers are a take", tensor.Vector[int16](3, -1), "[3, -1]"},
		{"in their arrangement", turned, "[2, 0, 0, 1]@2x2"},
		{"one alone is a position", tensor.Scalar[int64](-2), "-2"},
		{"one that no int holds is out of range anyway", tensor.Vector[uint64](1 << 63), "[9223372036854775807]"},
		{"bools are a mask", tensor.Vector(true, false), "mask[TF]"},
		{"over as many dims as they have", mask, "mask[TFTF]@2x2"},
		{"one alone is a mask over no dim", tensor.Scalar(true), "mask[T]@"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.x.AsIndex()
			require.NoError(t, err)
			require.NoError(t, got.Check())
			require.Equal(t, tt.want, got.String())
		})
	}
	testkit.Fails(t, tensor.ErrDType, testkit.Err(tensor.Scalar(1.0).AsIndex()))
}

// Batches that are taken again and again into one destination cost headers, however many rows they
// have.
func TestIndexIntoAllocates(t *testing.T) {
	x := tensor.Must(tensor.Zeros[float32](1000, 8))
	batch := func(rows int) func() {
		dst := tensor.Must(tensor.Zeros[float32](rows, 8))
		take := ix.Take(rand.New(rand.NewPCG(1, 2)).Perm(1000)[:rows]...)
		return func() { require.NoError(t, x.IndexInto(dst, take)) }
	}
	require.Equal(t, testing.AllocsPerRun(100, batch(2)), testing.AllocsPerRun(100, batch(1000)))
	require.LessOrEqual(t, testing.AllocsPerRun(100, batch(1000)), 12.0)
	testkit.MaxBytes(t, 2048+8*1000*5/4, batch(1000)) // the plan's copy of the list
}
