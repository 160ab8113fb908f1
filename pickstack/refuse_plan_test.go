package pickstack_test

import (
	"math"
	"testing"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A refused row is an error that must be.
type refused struct {
	name string
	err  error
	want error
}

func runRefused(t *testing.T, rows []refused) {
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) { testkit.Fails(t, row.want, row.err) })
	}
}

// i64 returns an index.
func i64(v ...int64) *tensor.Tensor { return tensor.Vector(v...) }

// list makes a slice of a few of anything.
func list[T any](v ...T) []T { return v }

func pickErr(indices []*tensor.Tensor, widths ...int) error {
	return testkit.Err(pickstack.NewPick(indices, widths, pickstack.PickOptions{}))
}

func poolErr(opt pickstack.PoolOptions, pools []*ragged.Tensor, widths ...int) error {
	return testkit.Err(pickstack.NewPool(pools, widths, opt))
}

// gone is lent memory that is not there.
func gone(d tensor.DType, shape ...int) *tensor.Tensor {
	return tensor.Must(tensor.FromLender(d, &testkit.Lender{Fail: errGone}, 0, shape...))
}

// TestPickRefusals: plans that cannot pick.
func TestPickRefusals(t *testing.T) {
	two := tensor.Must(tensor.From([]int64{0, 1}, 1, 2))
	runRefused(t, []refused{
		{"no input", pickErr(nil), shapeops.ErrShape},
		{"fewer widths than indices", pickErr(list(i64(0), i64(0)), 1), shapeops.ErrShape},
		{"more widths than indices", pickErr(list(i64(0)), 1, 1), shapeops.ErrShape},
		{"indices of unequal length", pickErr(list(i64(0, 0), i64(0)), 1, 1), shapeops.ErrShape},
		{"a skip connection of another length", pickErr(list(i64(0, 0), nil), 1, 3), shapeops.ErrShape},
		{"skip connections of unequal length", pickErr(list[*tensor.Tensor](nil, nil), 2, 3), shapeops.ErrShape},
		{"a negative width", pickErr(list(i64()), -1), shapeops.ErrShape},
		{"a negative width of a skip connection", pickErr(list[*tensor.Tensor](nil), -1), shapeops.ErrShape},
		{"an index of two dims", pickErr(list(two), 2), shapeops.ErrDim},
		{"an index of no dim", pickErr(list(tensor.Scalar[int64](0)), 2), shapeops.ErrDim},
		{"an index of floats", pickErr(list(tensor.Vector[float32](0)), 2), tensor.ErrDType},
		{"an index of bools", pickErr(list(tensor.Vector(true)), 2), tensor.ErrDType},
		{"an index of bytes", pickErr(list(tensor.Vector[uint8](0)), 2), tensor.ErrDType},
		{"an index of uint64", pickErr(list(tensor.Vector[uint64](0)), 2), tensor.ErrDType},
		{"an index on device meta", pickErr(list(tensor.Must(tensor.NewMeta(tensor.Int64, 2))), 2), tensor.ErrMeta},
		{"an index whose memory is gone", pickErr(list(gone(tensor.Int64, 2)), 2), errGone},
		{"the first is no row", pickErr(list(i64(3, 0, 1)), 3), shapeops.ErrIndex},
		{"one between is no row", pickErr(list(i64(0, 1, 2), i64(0, 4, 0)), 3, 4), shapeops.ErrIndex},
		{"the last is no row", pickErr(list(i64(0, 1, 3)), 3), shapeops.ErrIndex},
		{"a negative one", pickErr(list(i64(0, -1)), 3), shapeops.ErrIndex},
		{"the least int64", pickErr(list(i64(math.MinInt64)), 3), shapeops.ErrIndex},
		{"the greatest int64", pickErr(list(i64(math.MaxInt64)), 3), shapeops.ErrIndex},
		{"one beyond 32 bits that ends like a row", pickErr(list(i64(1<<32)), 3), shapeops.ErrIndex},
		{"the least int32", pickErr(list(tensor.Vector[int32](0, math.MinInt32)), 3), shapeops.ErrIndex},
		{"a row of an input without rows", pickErr(list(i64(0)), 0), shapeops.ErrIndex},
	})
}

// TestPoolRefusals: plans that cannot pool.
func TestPoolRefusals(t *testing.T) {
	none := pickstack.PoolOptions{}
	pools := func(lists ...[]int) *ragged.Tensor { return poolsOf(tensor.Int64, lists) }
	floats := tensor.Must(ragged.From[float32]([][]float32{{0}}))
	deep := tensor.Must(ragged.From[int64]([][][]int64{{{0}}}))
	flat := tensor.Must(ragged.From[int64]([]int64{0}))
	wide := tensor.Must(ragged.FromLengths(tensor.Must(tensor.Zeros[int64](1, 2)), []int64{1}))
	lost := tensor.Must(ragged.FromLengths(gone(tensor.Int64, 1), []int64{1}))
	nan := math.NaN()
	runRefused(t, []refused{
		{"no input", poolErr(none, nil), shapeops.ErrShape},
		{"fewer widths than pools", poolErr(none, list(pools(), pools()), 1), shapeops.ErrShape},
		{"pools of unequal number", poolErr(none, list(pools([]int{0}), pools([]int{0}, nil)), 1, 1), shapeops.ErrShape},
		{"a skip connection of another length", poolErr(none, list(nil, pools([]int{0})), 3, 1), shapeops.ErrShape},
		{"a negative width", poolErr(none, list(pools()), -1), shapeops.ErrShape},
		{"pools of depth 2", poolErr(none, list(deep), 1), shapeops.ErrDim},
		{"pools of depth 0", poolErr(none, list(flat), 1), shapeops.ErrDim},
		{"pools of pairs", poolErr(none, list(wide), 1), shapeops.ErrDim},
		{"pools of floats", poolErr(none, list(floats), 1), tensor.ErrDType},
		{"a zero tensor", poolErr(none, list(&ragged.Tensor{}), 1), tensor.ErrKind},
		{"pools whose memory is gone", poolErr(none, list(lost), 1), errGone},
		{"the first entry is no row", poolErr(none, list(pools(nil, []int{2, 0}, nil)), 2), shapeops.ErrIndex},
		{"the last entry is no row", poolErr(none, list(pools([]int{0}, []int{1, 1, 2})), 2), shapeops.ErrIndex},
		{"a negative entry of the second input", poolErr(none, list(pools([]int{0}), pools([]int{0, -1})), 2, 2), shapeops.ErrIndex},
		{"the least int64", poolErr(none, list(pools([]int{math.MinInt64})), 2), shapeops.ErrIndex},
		{"one beyond 32 bits that ends like a row", poolErr(none, list(pools([]int{1 << 32})), 2), shapeops.ErrIndex},
		{"an unknown reduction", poolErr(pickstack.PoolOptions{Reduction: 5}, list(pools()), 1), pickstack.ErrOptions},
		{"unknown ties", poolErr(pickstack.PoolOptions{Ties: 3}, list(pools()), 1), pickstack.ErrOptions},
		{"a MinValue of NaN", poolErr(pickstack.PoolOptions{MinValue: &nan}, list(pools()), 1), pickstack.ErrOptions},
	})
}

func splitsErr(values, splits *tensor.Tensor) error {
	return testkit.Err(pickstack.FromSplits(values, splits))
}

// TestSplitsRefusals: values and row splits that say no pools.
func TestSplitsRefusals(t *testing.T) {
	v := i64(0, 1)
	two := tensor.Must(tensor.Zeros[int64](1, 2))
	runRefused(t, []refused{
		{"values of two dims", splitsErr(two, i64(0, 1)), shapeops.ErrDim},
		{"splits of two dims", splitsErr(v, two), shapeops.ErrDim},
		{"a scalar of splits", splitsErr(v, tensor.Scalar[int64](0)), shapeops.ErrDim},
		{"values of floats", splitsErr(tensor.Vector[float32](0, 1), i64(0, 2)), tensor.ErrDType},
		{"splits of floats", splitsErr(v, tensor.Vector[float32](0, 2)), tensor.ErrDType},
		{"splits of bytes", splitsErr(v, tensor.Vector[uint8](0, 2)), tensor.ErrDType},
		{"no splits", splitsErr(v, i64()), ragged.ErrOffsets},
		{"splits that begin later", splitsErr(v, i64(1, 2)), ragged.ErrOffsets},
		{"splits that begin before", splitsErr(v, i64(-1, 2)), ragged.ErrOffsets},
		{"splits that decrease", splitsErr(v, i64(0, 2, 1)), ragged.ErrOffsets},
		{"splits that decrease and end well", splitsErr(v, i64(0, 2, 1, 2)), ragged.ErrOffsets},
		{"splits that end before the values", splitsErr(v, i64(0, 1)), ragged.ErrOffsets},
		{"splits that end after the values", splitsErr(v, i64(0, 3)), ragged.ErrOffsets},
		{"one split of some values", splitsErr(v, i64(0)), ragged.ErrOffsets},
		{"splits that wrap around", splitsErr(v, i64(0, math.MinInt64+1, 2)), ragged.ErrOffsets},
		{"splits whose memory is gone", splitsErr(v, gone(tensor.Int64, 2)), errGone},
		{"splits on device meta", splitsErr(v, tensor.Must(tensor.NewMeta(tensor.Int64, 2))), tensor.ErrMeta},
	})
}
