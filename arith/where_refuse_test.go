package arith_test

import (
	"errors"
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

// A desk has operands of every kind that fit one another.
type desk struct {
	mask, x, y, dst    *tensor.Tensor
	td, other, dstDict *tdict.TensorDict
}

func newDesk() desk {
	return desk{
		tensor.Vector(true, false, true), numbers(0, 3, 2), numbers(10, 3, 2), numbers(20, 3, 2),
		rows(0), rows(100), rows(200),
	}
}

func deskState(t testing.TB, d desk) string {
	text := state(t, d.td) + state(t, d.other) + state(t, d.dstDict)
	for _, x := range []*tensor.Tensor{d.mask, d.x, d.y, d.dst} {
		text += fmt.Sprintln(testkit.Content(t, x))
	}
	return text
}

func lent(d tensor.DType, l *testkit.Lender, shape ...int) *tensor.Tensor {
	return tensor.Must(tensor.FromLender(d, l, 0, shape...))
}

var errGone = errors.New("gone")

// with returns a copy of td in which another value is under a key.
func with(td *tdict.TensorDict, key string, v tdict.Value) *tdict.TensorDict {
	td = td.Copy()
	if err := td.Set(nestedkey.Key(key), v); err != nil {
		panic(err)
	}
	return td
}

// fillInPlace fills the rows of td themselves.
func fillInPlace(td *tdict.TensorDict, mask, value any) error {
	return arith.MaskedFillInto(td, td, mask, value)
}

type whereRefusal = testkit.Refusal[desk]

func TestWhereRefuses(t *testing.T) {
	gone := lent(tensor.Int64, &testkit.Lender{Fail: errGone}, 3, 2)
	locked := lent(tensor.Int64, &testkit.Lender{Bytes: make([]byte, 48), Locked: true}, 3, 2)
	badMask := lent(tensor.Bool, &testkit.Lender{Bytes: []byte{1, 2, 0}}, 3)
	testkit.Refuse(t, newDesk, deskState, []whereRefusal{
		{"a mask of another dtype", func(d desk) error { return testkit.Err(arith.Where(tensor.Vector[uint8](1, 0, 1), d.x, 1)) }, tensor.ErrDType},
		{"a mask that is no prefix", func(d desk) error { return arith.WhereInto(d.x, tensor.Vector(true, false), d.x, 1) }, shapeops.ErrShape},
		{"a mask of trailing dims", func(d desk) error { return testkit.Err(arith.Where(tensor.Vector(true, false), d.x, d.y)) }, shapeops.ErrShape},
		{"a mask of more dims", func(d desk) error {
			return arith.MaskedFillInto(d.x, d.x, tensor.Must(tensor.Full(true, 3, 2, 1)), 1)
		}, shapeops.ErrShape},
		{"a mask beyond the batch dims", func(d desk) error {
			return arith.MaskedFillInto(d.td, d.td, tensor.Must(tensor.Full(true, 3, 2)), 1)
		}, shapeops.ErrShape},
		{"two options", func(d desk) error {
			return testkit.Err(arith.Where(d.mask, d.td, 1, arith.WhereOptions{Missing: 1}, arith.WhereOptions{}))
		}, tensor.ErrKind},
		{"two options and a destination", func(d desk) error {
			return arith.WhereInto(d.td, d.mask, d.td, 1, arith.WhereOptions{}, arith.WhereOptions{})
		}, tensor.ErrKind},
		{"a mask with a byte of 2", func(d desk) error { return arith.WhereInto(d.x, badMask, d.x, 1) }, tensor.ErrDType},
		{"a mask without elements", func(d desk) error {
			return arith.WhereInto(d.x, tensor.Must(tensor.NewMeta(tensor.Bool, 3)), d.x, 1)
		}, tensor.ErrMeta},
		{"a dictionary for a tensor", func(d desk) error { return arith.WhereInto(d.x, d.mask, d.x, d.td) }, tensor.ErrKind},
		{"a text", func(d desk) error { return arith.WhereInto(d.td, d.mask, d.td, "0") }, tensor.ErrKind},
		{"other of another dtype", func(d desk) error { return arith.WhereInto(d.x, d.mask, d.x, tensor.Must(d.y.Cast(tensor.Int32))) }, tensor.ErrDType},
		{"other of another shape", func(d desk) error { return arith.WhereInto(d.x, d.mask, d.x, numbers(0, 3)) }, shapeops.ErrShape},
		{"other of more dims", func(d desk) error { return arith.WhereInto(d.x, d.mask, d.x, numbers(0, 1, 3, 2)) }, shapeops.ErrShape},
		{"a destination of another dtype", func(d desk) error {
			return arith.WhereInto(tensor.Must(d.dst.Cast(tensor.Int32)), d.mask, d.x, 1)
		}, tensor.ErrDType},
		{"a destination of another shape", func(d desk) error { return arith.WhereInto(numbers(0, 2, 3), d.mask, d.x, 1) }, shapeops.ErrShape},
		{"a read-only destination", func(d desk) error { return arith.WhereInto(locked, d.mask, d.x, 1) }, tensor.ErrReadOnly},
		{"a read-only leaf in place", func(d desk) error { return fillInPlace(with(d.td, "z", locked), d.mask, 1) }, tensor.ErrReadOnly},
		{"an expanded destination", func(d desk) error {
			return arith.WhereInto(tensor.Must(numbers(0, 1, 2).Expand(3, 2)), d.mask, d.x, 1)
		}, tensor.ErrLayout},
		{"x that is gone", func(d desk) error { return arith.WhereInto(d.dst, d.mask, gone, 1) }, errGone},
		{"a leaf that is gone", func(d desk) error { return fillInPlace(with(d.td, "z", gone), d.mask, 1) }, errGone},
		{"other that is gone", func(d desk) error {
			td := with(d.td, "z", numbers(0, 3, 2))
			return arith.WhereInto(td, d.mask, td, with(d.other, "z", gone))
		}, errGone},
		{"a mask that is gone", func(d desk) error {
			return arith.WhereInto(d.td, lent(tensor.Bool, &testkit.Lender{Fail: errGone}, 3), d.td, 1)
		}, errGone},
		{"x without elements", func(d desk) error { return arith.WhereInto(d.dst, d.mask, tensor.Must(d.x.ToMeta()), 1) }, tensor.ErrMeta},
		{"a key that other lacks", func(d desk) error {
			td := with(d.td, "z", d.x)
			return arith.WhereInto(td, d.mask, td, d.other)
		}, tdict.ErrMissing},
		{"a key that x lacks", func(d desk) error { return testkit.Err(arith.Where(d.mask, d.td, with(d.other, "d/q", d.x))) }, tdict.ErrMissing},
		{"a key that the destination lacks", func(d desk) error { return arith.WhereInto(d.dstDict, d.mask, with(d.td, "z", d.x), 1) }, tdict.ErrMissing},
		{"a key that only the destination has", func(d desk) error { return arith.WhereInto(with(d.dstDict, "z", d.x), d.mask, d.td, 1) }, tdict.ErrMissing},
		{"data where x has a tensor", func(d desk) error { return arith.WhereInto(d.td, d.mask, d.td, with(d.other, "x", texts(1, 2, 3))) }, tdict.ErrKind},
		{"a tensor where x has data", func(d desk) error { return arith.WhereInto(d.td, d.mask, d.td, with(d.other, "each", d.x)) }, tdict.ErrKind},
		{"a tensor where x has a dictionary", func(d desk) error { return arith.WhereInto(d.td, d.mask, d.td, with(d.other, "d", d.x)) }, tdict.ErrKind},
		{"data in the destination", func(d desk) error { return arith.WhereInto(with(d.dstDict, "x", texts(1, 2, 3)), d.mask, d.td, 1) }, tdict.ErrKind},
		{"a dtype that differs under a key", func(d desk) error {
			return arith.WhereInto(d.td, d.mask, d.td, with(d.other, "d/y", tensor.Must(tensor.Zeros[int8](3, 2, 2))))
		}, tensor.ErrDType},
		{"features that differ under a key", func(d desk) error { return arith.WhereInto(d.td, d.mask, d.td, with(d.other, "x", numbers(0, 3, 1))) }, shapeops.ErrShape},
		{"a batch shape that differs", func(d desk) error { return arith.WhereInto(d.td, d.mask, d.td, dict([]int{2})) }, shapeops.ErrShape},
		{"an inner batch shape that differs", func(d desk) error {
			return arith.WhereInto(d.td, d.mask, d.td, with(d.other, "d", dict([]int{3}, entry{"y", numbers(0, 3, 2, 2)}, entry{"z", numbers(0, 3, 2)})))
		}, shapeops.ErrShape},
		{"a scalar that a leaf does not hold", func(d desk) error {
			return fillInPlace(with(d.td, "z", tensor.Vector[uint8](1, 2, 3)), d.mask, 256)
		}, tensor.ErrDType},
		{"a tensor that does not fit the batch dims", func(d desk) error { return arith.MaskedFillInto(d.td, d.td, d.mask, numbers(0, 2)) }, shapeops.ErrShape},
	})
}

// TestWhereScalarsThatDoNotFit: what no element of a dtype is, is refused for it.
func TestWhereScalarsThatDoNotFit(t *testing.T) {
	bad := map[tensor.DType][]any{
		tensor.Bool: {2, -1, 0.5, 1i}, tensor.Uint8: {-1, 256, 0.5, true}, tensor.Uint16: {-1, 1 << 16}, tensor.Uint32: {-1, 1 << 32},
		tensor.Uint64: {-1, math.Ldexp(1, 64)}, tensor.Int8: {128, -129}, tensor.Int16: {1 << 15}, tensor.Int32: {1 << 31, math.NaN()},
		tensor.Int64: {uint64(1) << 63, 0.5, math.Inf(1)}, tensor.Float16: {1e6, true, 1i}, tensor.BFloat16: {math.MaxFloat64}, tensor.Float32: {1e300, true},
		tensor.Float64: {1i, false}, tensor.Complex64: {1e300}, tensor.Complex128: {true},
	}
	for _, d := range tensor.DTypes() {
		require.NotEmpty(t, bad[d], d)
		for _, v := range bad[d] {
			x := tensor.Must(tensor.New(d, 2))
			before := testkit.Content(t, x)
			require.ErrorIs(t, arith.MaskedFillInto(x, x, tensor.Scalar(true), v), tensor.ErrDType, "%v of %v", v, d)
			require.Equal(t, before, testkit.Content(t, x))
		}
	}
}
