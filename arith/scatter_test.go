package arith_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// float64s returns the elements of a tensor as float64.
func float64s(t testing.TB, x *tensor.Tensor) []float64 {
	t.Helper()
	return testkit.Elements[float64](t, tensor.Must(x.Cast(tensor.Float64)))
}

// small returns a tensor of small numbers, which every dtype adds up exactly, in some layout.
func small(t testing.TB, r *rand.Rand, d tensor.DType, shape []int, l testkit.Layout, m testkit.Memory) testkit.Specimen {
	s := testkit.Make(t, d, shape, l, m, 0)
	numbers := make([]uint8, len(s.Mem)/d.Size())
	for i := range numbers {
		numbers[i] = uint8(r.IntN(4))
	}
	copy(s.Mem, testkit.Content(t, tensor.Must(tensor.Vector(numbers...).Cast(d))))
	return s
}

// TestScatterAddIsNaive compares with loops over dtypes, shapes, dims, layouts and memories:
// duplicates and positions from the end included.
func TestScatterAddIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, d := range tensor.DTypes() {
		if d == tensor.Bool {
			continue
		}
		for _, shape := range [][]int{{0}, {1}, {5}, {3, 2}, {2, 3, 4}, {3, 0, 2}} {
			for dim := range shape {
				for range 6 {
					checkScatter(t, r, d, shape, dim)
				}
			}
		}
	}
}

// checkScatter adds to a tensor whose last dims may be features.
func checkScatter(t *testing.T, r *rand.Rand, d tensor.DType, shape []int, dim int) {
	t.Helper()
	x := small(t, r, d, shape, one(r, writableLayouts), one(r, writableMemories))
	index := make([]int, len(shape))
	for i, n := range shape {
		index[i] = r.IntN(n + 1)
	}
	if index[dim] = r.IntN(6); shape[dim] == 0 {
		index[dim] = 0
	}
	positions := make([]int64, naive.Size(index))
	for i := range positions {
		positions[i] = int64(r.IntN(2*shape[dim]) - shape[dim])
	}
	list := tensor.Must(tensor.From(positions, index...))
	src := small(t, r, d, index, one(r, testkit.Layouts), one(r, testkit.Memories))
	want, added := float64s(t, x.Tensor), float64s(t, src.Tensor)
	at, i := naive.New(shape...), 0
	naive.Each(index, func(pos []int) {
		to := append([]int{}, pos...)
		to[dim] = (int(positions[i]) + shape[dim]) % shape[dim]
		want[at.Get(to)] += added[i]
		i++
	})
	about := fmt.Sprint(d, shape, dim, index, positions)
	before := testkit.Content(t, x.Tensor)
	got := tensor.Must(arith.ScatterAdd(x.Tensor, dim-len(shape)*r.IntN(2), list, src.Tensor))
	require.Equal(t, d, got.DType())
	require.Equal(t, want, float64s(t, got), about)
	require.Equal(t, before, testkit.Content(t, x.Tensor))
	dst := testkit.Make(t, d, shape, one(r, writableLayouts), one(r, writableMemories), 0)
	require.NoError(t, arith.ScatterAddInto(dst.Tensor, x.Tensor, dim, list, src.Tensor))
	require.Equal(t, want, float64s(t, dst.Tensor), about)
	after := x.Written(x.Array, testkit.Content(t, got))
	require.NoError(t, arith.ScatterAddInto(x.Tensor, x.Tensor, dim, list, src.Tensor))
	require.Equal(t, after, x.Mem, about)
}

// TestScatterAddOfHalves adds up in float32: addends that a half would lose one by one.
func TestScatterAddOfHalves(t *testing.T) {
	const n = 5000
	index := tensor.Must(tensor.Zeros[int64](n))
	for d, want := range map[tensor.DType]float64{tensor.Float16: 1 + n/8192.0, tensor.BFloat16: 1 + n/8192.0} {
		tiny := tensor.Must(tensor.Must(tensor.Full(1/8192.0, n)).Cast(d))
		got := tensor.Must(arith.ScatterAdd(tensor.Must(tensor.Vector(1.0).Cast(d)), 0, index, tiny))
		rounded := tensor.Must(tensor.Must(tensor.Vector(want).Cast(d)).Cast(tensor.Float64))
		require.Equal(t, testkit.Elements[float64](t, rounded), float64s(t, got), d)
	}
}

// TestScatterAddOfDictionaries adds whole rows, features too, of each leaf.
func TestScatterAddOfDictionaries(t *testing.T) {
	inner := func(first int64, n int) *tdict.TensorDict {
		return dict([]int{n, 2}, entry{"y", numbers(first, n, 2, 1)})
	}
	td := dict([]int{3}, entry{"x", numbers(0, 3, 2)}, entry{"d", inner(0, 3)}, entry{"name", texts("a", "b", "c")}, entry{"w", same(numbers(0, 2))})
	src := dict([]int{4}, entry{"x", numbers(10, 4, 2)}, entry{"d", inner(10, 4)}, entry{"name", texts(1, 2, 3, 4)}, entry{"w", same(numbers(7, 2))})
	require.NoError(t, td.SetNames("time"))
	before := state(t, td)
	got := tensor.Must(arith.ScatterAdd(td, 0, tensor.Vector[int64](2, 0, -1, 2), src))
	for _, key := range []string{"x", "d/y"} {
		require.Equal(t, []int64{12, 14, 2, 3, 4 + 10 + 14 + 16, 5 + 11 + 15 + 17}, testkit.Elements[int64](t, tensor.Must(got.Tensor(nestedkey.Key(key)))))
	}
	require.Equal(t, []any{"a", "b", "c"}, anys(t, got, "name"))
	require.Equal(t, []string{"time"}, got.Names())
	require.Equal(t, before, state(t, td))
	require.NoError(t, arith.ScatterAddInto(td, td, 0, tensor.Vector[int64](2, 0, -1, 2), src))
	require.Equal(t, state(t, got), state(t, td))
}

// TestScatterAddToItself reads what it adds before it writes, whichever operand the destination is.
func TestScatterAddToItself(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Int64, tensor.Float16, tensor.Float64, tensor.Complex64} {
		x := tensor.Must(tensor.Vector[int8](1, 2, 4).Cast(d))
		back := tensor.Vector[int64](2, 1, 0)
		require.NoError(t, arith.ScatterAddInto(x, x, 0, back, x), d)
		require.Equal(t, []float64{5, 4, 5}, float64s(t, x), d)
		src := tensor.Must(tensor.Vector[int8](1, 2, 3).Cast(d))
		require.NoError(t, arith.ScatterAddInto(src, x, 0, back, src), d)
		require.Equal(t, []float64{8, 6, 6}, float64s(t, src), d)
	}
}

// TestScatterAddChangesAllOrNone: if a later leaf cannot hold a sum, an earlier one is as it was.
func TestScatterAddChangesAllOrNone(t *testing.T) {
	td := dict([]int{1}, entry{"a", numbers(1, 1)}, entry{"b", tensor.Vector[int8](100)})
	src := dict([]int{1}, entry{"a", numbers(1, 1)}, entry{"b", tensor.Vector[int8](100)})
	before := state(t, td)
	testkit.Fails(t, tensor.ErrDType, arith.ScatterAddInto(td, td, 0, tensor.Vector[int64](0), src))
	require.Equal(t, before, state(t, td))
}

func TestScatterAddRefuses(t *testing.T) {
	at := tensor.Vector[int64](0, 0)
	fresh := func() *tensor.Tensor { return numbers(0, 3) }
	show := func(t testing.TB, x *tensor.Tensor) string { return fmt.Sprint(testkit.Content(t, x)) }
	type X = *tensor.Tensor
	add := func(x, src X, index X) error { return arith.ScatterAddInto(x, x, 0, index, src) }
	rows := []testkit.Refusal[X]{
		{"no such dim", func(x X) error { return arith.ScatterAddInto(x, x, 1, at, at) }, shapeops.ErrDim},
		{"a position beyond the end", func(x X) error { return add(x, at, tensor.Vector[int64](0, 3)) }, shapeops.ErrIndex},
		{"a position before the beginning", func(x X) error { return add(x, at, tensor.Vector[int64](0, -4)) }, shapeops.ErrIndex},
		{"an index of floats", func(x X) error { return add(x, at, tensor.Vector(0.0, 1)) }, tensor.ErrDType},
		{"an index of more dims", func(x X) error { return add(x, at, numbers(0, 1, 2)) }, shapeops.ErrShape},
		{"another shape", func(x X) error { return add(x, numbers(0, 3), at) }, shapeops.ErrShape},
		{"another dtype", func(x X) error { return add(x, tensor.Vector[int32](1, 1), at) }, tensor.ErrDType},
		{"bools", func(X) error { return add(tensor.Vector(true), tensor.Vector(true, true), at) }, tensor.ErrDType},
		{"a sum that wraps", func(x X) error { return add(x, tensor.Vector[int64](math.MaxInt64, 1), at) }, tensor.ErrDType},
		{"an unsigned sum that wraps", func(x X) error { return add(tensor.Vector[uint8](200), tensor.Vector[uint8](50, 6), at) }, tensor.ErrDType},
		{"a sum that wraps below", func(x X) error { return add(tensor.Vector[int8](-100), tensor.Vector[int8](-28, -1), at) }, tensor.ErrDType},
		{"an x that is gone", func(X) error { return add(lent(tensor.Int64, &testkit.Lender{Fail: errGone}, 3), at, at) }, errGone},
		{"an addend that is gone", func(x X) error { return add(x, lent(tensor.Int64, &testkit.Lender{Fail: errGone}, 2), at) }, errGone},
		{"a read-only x", func(X) error {
			return add(lent(tensor.Int64, &testkit.Lender{Bytes: make([]byte, 24), Locked: true}, 3), at, at)
		}, tensor.ErrReadOnly},
		{"an x without elements", func(x X) error { return add(tensor.Must(x.ToMeta()), at, at) }, tensor.ErrMeta},
	}
	testkit.Refuse(t, fresh, show, rows)
}

// What is added may lie in the memory that it is added to: it is read first.
func TestScatterAddOfItself(t *testing.T) {
	x := tensor.Vector[int64](1, 2, 3)
	low, high := tensor.Must(x.Index(ix.Range(0, 2))), tensor.Must(x.Index(ix.Range(1, 3)))
	require.NoError(t, arith.ScatterAddInto(low, low, 0, tensor.Vector[int64](0, 1), high))
	require.Equal(t, []int64{3, 5, 3}, tensor.Must(tensor.Of[int64](x)))
}

// What goes wrong with the elements of a leaf is told with its key.
func TestScatterAddTellsTheKey(t *testing.T) {
	td := tdict.New(1)
	require.NoError(t, td.Set("n/a", tensor.Vector[int8](100)))
	require.NoError(t, td.Set("n/b", tensor.Vector[int64](1)))
	err := arith.ScatterAddInto(td, td, 0, tensor.Vector[int64](0), td)
	require.ErrorIs(t, err, tensor.ErrDType)
	require.ErrorContains(t, err, `scatter add "n/a": `)
}
