package arith_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// episodes is a dictionary of batch shape [2 3], with one in it of batch shape [2 3 2].
func episodes() *tdict.TensorDict {
	inner := dict([]int{2, 3, 2}, entry{"y", numbers(0, 2, 3, 2, 2)})
	if err := inner.SetNames("env", "time", "eye"); err != nil {
		panic(err)
	}
	td := dict([]int{2, 3}, entry{"x", numbers(0, 2, 3)}, entry{"d", inner},
		entry{"all", tensor.Must(tdict.NewData("same", 2, 3))})
	if err := td.SetNames("env", "time"); err != nil {
		panic(err)
	}
	return td
}

// TestReduceOfDictionaries: batch shapes and names follow, dims are those of the outermost, and
// leaves are those of tensors by themselves.
func TestReduceOfDictionaries(t *testing.T) {
	tests := []struct {
		name         string
		over         arith.Over
		leaf, nested arith.Over // of x, and of d/y
		batch, inner []int
		names, eyes  []string
	}{
		{"a dim", arith.Dims(1), arith.Dims(1), arith.Dims(1), []int{2}, []int{2, 2}, []string{"env"}, []string{"env", "eye"}},
		{"a dim from the end", arith.Dims(-2), arith.Dims(0), arith.Dims(0), []int{3}, []int{3, 2}, []string{"time"}, []string{"time", "eye"}},
		{"both kept", arith.Dims(1, 0).Keep(), arith.Dims(0, 1).Keep(), arith.Dims(0, 1).Keep(), []int{1, 1}, []int{1, 1, 2}, []string{"env", "time"}, []string{"env", "time", "eye"}},
		{"whole", arith.Whole, arith.Whole, arith.Whole, []int{}, []int{}, nil, nil},
		{"whole kept", arith.Whole.Keep(), arith.Whole.Keep(), arith.Whole.Keep(), []int{1, 1}, []int{1, 1, 1}, []string{"env", "time"}, []string{"env", "time", "eye"}},
		{"groups", bySplits(0, 0, 2), bySplits(0, 0, 2), bySplits(0, 0, 2), []int{2, 3}, []int{2, 3, 2}, []string{"env", "time"}, []string{"env", "time", "eye"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := episodes()
			before := state(t, td)
			got, err := arith.Sum(td, tt.over)
			require.NoError(t, err)
			require.Equal(t, before, state(t, td))
			require.Equal(t, fmt.Sprint(tt.batch), fmt.Sprint(got.Shape()))
			d := tensor.Must(got.Dict("d"))
			require.Equal(t, fmt.Sprint(tt.inner), fmt.Sprint(d.Shape()))
			require.Equal(t, fmt.Sprint(tt.names), fmt.Sprint(got.Names()))
			require.Equal(t, fmt.Sprint(tt.eyes), fmt.Sprint(d.Names()))
			for key, over := range map[nestedkey.Key]arith.Over{"x": tt.leaf, "d/y": tt.nested} {
				want := tensor.Must(arith.Sum(tensor.Must(td.Tensor(key)), over))
				require.True(t, want.Equal(tensor.Must(got.Tensor(key))), key)
			}
			for _, v := range anys(t, got, "all") {
				require.Equal(t, "same", v)
			}
		})
	}
}

func bySplits(splits ...int64) arith.Over { return arith.BySplits(tensor.Vector(splits...)) }

// TestReduceFeatures keeps batch shapes and Data, and in each dictionary the dims after its own.
func TestReduceFeatures(t *testing.T) {
	td := dict([]int{3}, entry{"x", numbers(0, 3, 2)}, entry{"r", numbers(0, 3)},
		entry{"d", dict([]int{3, 2}, entry{"y", numbers(0, 3, 2, 2)})}, entry{"each", texts("a", "b", "c")})
	got := tensor.Must(arith.Sum(td, arith.Features))
	require.Equal(t, []int64{1, 5, 9}, ints(t, got, "x"))
	require.Equal(t, []int64{0, 1, 2}, ints(t, got, "r"))
	require.Equal(t, []int64{1, 5, 9, 13, 17, 21}, ints(t, got, "d/y"))
	require.Equal(t, []any{"a", "b", "c"}, anys(t, got, "each"))
	got = tensor.Must(arith.Max(td, arith.Features.Keep()))
	require.Equal(t, shapeops.Shape{3, 1}, tensor.Must(got.Tensor("x")).Shape())
	require.Equal(t, shapeops.Shape{3, 2, 1}, tensor.Must(got.Tensor("d/y")).Shape())
	got = tensor.Must(arith.CumSum(td, arith.Dims(0)))
	require.Equal(t, []int64{0, 1, 2, 4, 6, 9}, ints(t, got, "x"))
	require.Equal(t, []any{"a", "b", "c"}, anys(t, got, "each"))
	require.NoError(t, arith.CumSumInto(td, td, arith.Dims(0)))
	require.Equal(t, state(t, got), state(t, td))
}

// TestReduceWhereLeaves: a dictionary of masks says for each leaf what counts.
func TestReduceWhereLeaves(t *testing.T) {
	td := dict([]int{3}, entry{"x", numbers(0, 3, 2)}, entry{"d/y", numbers(0, 3)})
	masks := dict([]int{3},
		entry{"x", tensor.Must(tensor.From([]bool{true, false, true, true, false, false}, 3, 2))},
		entry{"d/y", tensor.Vector(false, true, true)})
	got := tensor.Must(arith.Sum(td, arith.Dims(0).Where(masks)))
	require.Equal(t, []int64{2, 3}, ints(t, got, "x"))
	require.Equal(t, []int64{3}, ints(t, got, "d/y"))
	got = tensor.Must(arith.Sum(td, arith.Dims(0).Where(mask3)))
	require.Equal(t, []int64{4, 6}, ints(t, got, "x"))
	require.Equal(t, []int64{2}, ints(t, got, "d/y"))
	got = tensor.Must(arith.Count(td, arith.Whole.Where(mask3)))
	require.Equal(t, []int64{4}, ints(t, got, "x"))
}

// TestSumsOfIntegersAreExact: only a total that does not fit is an error, whatever partial sums do.
func TestSumsOfIntegersAreExact(t *testing.T) {
	const most = math.MaxInt64
	fits := tensor.Vector[int64](most, most, -most, 5, -most)
	for _, over := range []arith.Over{arith.Whole, arith.Dims(0), bySplits(0, 5)} {
		require.Equal(t, []int64{5}, testkit.Elements[int64](t, tensor.Must(arith.Sum(fits, over))))
	}
	columns := tensor.Must(tensor.Must(fits.Reshape(5, 1)).Expand(5, 3))
	require.Equal(t, []int64{5, 5, 5}, testkit.Elements[int64](t, tensor.Must(arith.Sum(columns, arith.Dims(0)))))
	low := tensor.Vector[int64](math.MinInt64, -1, 1)
	require.Equal(t, int64(math.MinInt64), tensor.Must(tensor.Item[int64](tensor.Must(arith.Sum(low, arith.Whole)))))
	high := tensor.Vector[uint64](math.MaxUint64-1, 1)
	require.Equal(t, uint64(math.MaxUint64), tensor.Must(tensor.Item[uint64](tensor.Must(arith.Sum(high, arith.Whole)))))
	prod := tensor.Vector[int64](1<<62, 2, 3, -1)
	require.ErrorIs(t, testkit.Err(arith.Prod(prod, arith.Whole)), tensor.ErrDType)
	require.Equal(t, int64(math.MinInt64), tensor.Must(tensor.Item[int64](tensor.Must(arith.Prod(tensor.Vector[int64](1<<62, -2), arith.Whole)))))
	require.Equal(t, int64(0), tensor.Must(tensor.Item[int64](tensor.Must(arith.Prod(tensor.Vector[int64](1<<62, 4, 8, 0, 7), arith.Whole)))))
}

func TestReduceRefuses(t *testing.T) {
	fresh := func() *tdict.TensorDict {
		return dict([]int{3}, entry{"x", numbers(1, 3, 2)}, entry{"d/y", tensor.Vector[float32](1, 2, 3)})
	}
	gone := lent(tensor.Float32, &testkit.Lender{Fail: errGone}, 3)
	cut := lent(tensor.Float32, &testkit.Lender{Bytes: make([]byte, 12), Cut: errGone}, 3)
	bits := lent(tensor.Bool, &testkit.Lender{Bytes: []byte{1, 0, 3}}, 3)
	big := tensor.Vector[int64](math.MaxInt64, 1, 0)
	sum := func(over arith.Over) func(td *tdict.TensorDict) error {
		return func(td *tdict.TensorDict) error { return testkit.Err(arith.Sum(td, over)) }
	}
	testkit.Refuse(t, fresh, state, []testkit.Refusal[*tdict.TensorDict]{
		{"a dim of features", sum(arith.Dims(1)), shapeops.ErrDim},
		{"a dim twice", sum(arith.Dims(0, -1)), shapeops.ErrDim},
		{"no dim", sum(arith.Dims()), shapeops.ErrDim},
		{"any of a dim that is not there", func(*tdict.TensorDict) error {
			return testkit.Err(arith.Any(tensor.Vector(true), arith.Dims(1)))
		}, shapeops.ErrDim},
		{"splits of another dtype", sum(arith.BySplits(tensor.Vector[int32](0, 3))), tensor.ErrDType},
		{"splits of two dims", sum(arith.BySplits(numbers(0, 1, 4))), shapeops.ErrShape},
		{"splits without a number", sum(bySplits()), shapeops.ErrShape},
		{"splits that end early", sum(bySplits(0, 2)), shapeops.ErrShape},
		{"splits that begin late", sum(bySplits(1, 3)), shapeops.ErrShape},
		{"splits that go back", sum(bySplits(0, 2, 1, 3)), shapeops.ErrShape},
		{"groups of a scalar", func(*tdict.TensorDict) error {
			return testkit.Err(arith.Sum(tensor.Scalar(1.0), bySplits(0, 1)))
		}, shapeops.ErrDim},
		{"a mask that is a number", sum(arith.Whole.Where(1)), tensor.ErrKind},
		{"a mask of numbers", sum(arith.Whole.Where(numbers(0, 3))), tensor.ErrDType},
		{"a mask of another shape", sum(arith.Whole.Where(tensor.Vector(true))), shapeops.ErrShape},
		{"masks of numbers", func(td *tdict.TensorDict) error { return testkit.Err(arith.Sum(td, arith.Whole.Where(td))) }, tensor.ErrDType},
		{"a mask that is missing", sum(arith.Whole.Where(dict([]int{3}, entry{"x", mask3}))), tdict.ErrMissing},
		{"a sum that does not fit", func(td *tdict.TensorDict) error {
			return testkit.Err(arith.Sum(with(td, "z", big), arith.Dims(0)))
		}, tensor.ErrDType},
		{"a product that does not fit", func(*tdict.TensorDict) error {
			return testkit.Err(arith.Prod(tensor.Vector[uint64](1<<63, 2), arith.Whole))
		}, tensor.ErrDType},
		{"running sums that do not fit", func(*tdict.TensorDict) error {
			td := dict([]int{3}, entry{"z", big})
			return arith.CumSumInto(td, td, arith.Dims(0))
		}, tensor.ErrDType},
		{"running sums of another dtype", func(td *tdict.TensorDict) error {
			td = with(td, "z", tensor.Vector[int8](1, 2, 3))
			return arith.CumSumInto(td, td, arith.Dims(0))
		}, tensor.ErrDType},
		{"running sums over two dims", func(*tdict.TensorDict) error {
			return testkit.Err(arith.CumSum(numbers(0, 2, 2), arith.Dims(0, 1)))
		}, shapeops.ErrDim},
		{"running sums over all", func(td *tdict.TensorDict) error { return testkit.Err(arith.CumSum(td, arith.Whole)) }, shapeops.ErrDim},
		{"the least of no integer", func(*tdict.TensorDict) error {
			return testkit.Err(arith.Min(numbers(0, 0), arith.Whole))
		}, arith.ErrEmpty},
		{"where the greatest of nothing is", func(td *tdict.TensorDict) error {
			return testkit.Err(arith.ArgMax(td, arith.Dims(0).Where(tensor.Vector(false, false, false))))
		}, arith.ErrEmpty},
		{"all of numbers", func(td *tdict.TensorDict) error { return testkit.Err(arith.All(td, arith.Whole)) }, tensor.ErrDType},
		{"the norm of bools", func(*tdict.TensorDict) error { return testkit.Err(arith.Norm(mask3, arith.Whole)) }, tensor.ErrDType},
		{"the least of complex numbers", func(*tdict.TensorDict) error {
			return testkit.Err(arith.Min(tensor.Vector[complex64](1), arith.Whole))
		}, tensor.ErrDType},
		{"a quantile beyond 1", func(td *tdict.TensorDict) error { return testkit.Err(arith.Quantile(td, arith.Whole, 1.5)) }, tensor.ErrKind},
		{"a quantile that is NaN", func(td *tdict.TensorDict) error { return testkit.Err(arith.Quantile(td, arith.Whole, math.NaN())) }, tensor.ErrKind},
		{"rows of data that differ", func(td *tdict.TensorDict) error {
			return testkit.Err(arith.Sum(with(td, "name", texts("a", "b", "c")), arith.Dims(0)))
		}, tensor.ErrKind},
		{"a leaf that is gone", func(td *tdict.TensorDict) error { return testkit.Err(arith.Sum(with(td, "z", gone), arith.Dims(0))) }, errGone},
		{"memory that was not all there", func(td *tdict.TensorDict) error { return testkit.Err(arith.Mean(with(td, "z", cut), arith.Dims(0))) }, errGone},
		{"a bad bool", func(td *tdict.TensorDict) error { return testkit.Err(arith.Sum(with(td, "z", bits), arith.Dims(0))) }, tensor.ErrDType},
		{"a mask with a bad bool", sum(arith.Dims(0).Where(bits)), tensor.ErrDType},
	})
}

// TestReduceKeepsUnbatched: what belongs to all rows alike belongs to the result.
func TestReduceKeepsUnbatched(t *testing.T) {
	td := dict([]int{3}, entry{"x", numbers(0, 3, 2)}, entry{"all", tensor.Must(tdict.NewData("text", 3))},
		entry{"w", tensor.Must(tdict.NewUnbatched(numbers(5, 4)))})
	for _, over := range []arith.Over{arith.Dims(0), arith.Dims(0).Keep(), arith.Whole, arith.Features, arith.BySplits(tensor.Vector[int64](0, 1, 3))} {
		got, err := arith.Sum(td, over)
		require.NoError(t, err)
		w := tensor.Must(tdict.Get[*tdict.Unbatched](got, "w"))
		require.True(t, w.Shape().HasPrefix(got.Shape()))
		require.True(t, w.Tensor().Equal(numbers(5, 4)))
	}
	require.NoError(t, td.Set("each", texts("a", "b", "c")))
	require.ErrorIs(t, testkit.Err(arith.Sum(td, arith.Dims(0))), tdict.ErrKind, "rows that differ")
}
