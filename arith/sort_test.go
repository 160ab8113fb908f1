package arith_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// shuffled returns a dictionary of batch shape [4 5] with leaves of several dtypes in no order.
func shuffled(r *rand.Rand) *tdict.TensorDict {
	random := func(shape ...int) *tensor.Tensor {
		x := tensor.Must(tensor.Zeros[float32](shape...))
		_ = tensor.Write(x, func(s []float32) {
			for i := range s {
				s[i] = float32(r.IntN(9))
			}
		})
		return x
	}
	inner := dict([]int{4, 5, 2}, entry{"y", tensor.Must(random(4, 5, 2, 3).Cast(tensor.Int16))})
	return dict([]int{4, 5}, entry{"x", random(4, 5)}, entry{"d", inner}, entry{"name", tensor.Must(tdict.NewData("n", 4, 5))})
}

// TestSortOfDictionaries sorts each leaf along a batch dim, features too; what Gather takes where
// ArgSort says is sorted.
func TestSortOfDictionaries(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, dim := range []int{0, 1, -1, -2} {
		for _, opt := range []arith.SortOptions{{}, {Descending: true}} {
			td := shuffled(r)
			before := state(t, td)
			got := tensor.Must(arith.Sort(td, dim, opt))
			order := tensor.Must(arith.ArgSort(td, dim, opt))
			require.Equal(t, before, state(t, td))
			for key, x := range td.Tensors() {
				at := (dim + 2) % 2
				require.True(t, tensor.Must(arith.Sort(x, at, opt)).Equal(tensor.Must(got.Tensor(key))), key)
				positions := tensor.Must(order.Tensor(key))
				require.Equal(t, tensor.Int64, positions.DType())
				require.True(t, tensor.Must(x.Gather(at, positions)).Equal(tensor.Must(got.Tensor(key))), key)
			}
			require.Equal(t, anys(t, td, "name"), anys(t, got, "name"))
			into := tensor.Must(td.NewZeros(4, 5))
			require.NoError(t, arith.SortInto(into, td, dim, opt))
			require.Equal(t, state(t, got), state(t, into))
			require.NoError(t, arith.SortInto(td, td, dim, opt))
			require.Equal(t, state(t, got), state(t, td))
		}
	}
}

func TestSortVerbsRefuse(t *testing.T) {
	fresh := func() *tdict.TensorDict {
		return dict([]int{3}, entry{"x", tensor.Vector[int64](3, 1, 2)}, entry{"d", tdict.New(3)})
	}
	complexes := tensor.Vector[complex64](3, 1, 2)
	bits := lent(tensor.Bool, &testkit.Lender{Bytes: []byte{1, 0, 3}}, 3)
	opt := arith.SortOptions{}
	testkit.Refuse(t, fresh, state, []testkit.Refusal[*tdict.TensorDict]{
		{"a dim of features", func(*tdict.TensorDict) error {
			return testkit.Err(arith.Sort(dict([]int{3}, entry{"x", numbers(0, 3, 2)}), 1, opt))
		}, shapeops.ErrDim},
		{"complex numbers under a key", func(td *tdict.TensorDict) error { return sortInPlace(with(td, "d/z", complexes), opt) }, tensor.ErrDType},
		{"positions of complex numbers under a key", func(td *tdict.TensorDict) error {
			return testkit.Err(arith.ArgSort(with(td, "d/z", complexes), 0, opt))
		}, tensor.ErrDType},
		{"a bad bool after another leaf", func(td *tdict.TensorDict) error { return sortInPlace(with(td, "z", bits), opt) }, tensor.ErrDType},
		{"a leaf that is gone", func(td *tdict.TensorDict) error {
			return sortInPlace(with(td, "z", lent(tensor.Int64, &testkit.Lender{Fail: errGone}, 3)), opt)
		}, errGone},
		{"memory that was not all there", func(td *tdict.TensorDict) error {
			return arith.SortInto(fresh(), with(fresh(), "x", lent(tensor.Int64, &testkit.Lender{Bytes: make([]byte, 24), Cut: errGone}, 3)), 0, opt)
		}, errGone},
	})
}

// TestSortKeepsNaNsLast: the options reach each leaf.
func TestSortKeepsNaNsLast(t *testing.T) {
	td := dict([]int{3}, entry{"x", tensor.Vector(math.NaN(), 1, 2)}, entry{"y", tensor.Vector[int8](-1, 5, 3)})
	got := tensor.Must(arith.ArgSort(td, 0, arith.SortOptions{Descending: true}))
	require.Equal(t, []int64{2, 1, 0}, ints(t, got, "x"))
	require.Equal(t, []int64{1, 2, 0}, ints(t, got, "y"))
}

// sortInPlace sorts the rows of td themselves.
func sortInPlace(td *tdict.TensorDict, opt arith.SortOptions) error {
	return arith.SortInto(td, td, 0, opt)
}
