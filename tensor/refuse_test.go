package tensor_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// errOnly drops the value of a call that must fail.
func errOnly[T any](_ T, err error) error { return err }

// An operation that is refused names what is wrong, and changes nothing.
func TestRefusals(t *testing.T) {
	wide := func() *tensor.Tensor { return must(tensor.Zeros[float64](2, 3)) }
	row := tensor.Vector[float32](7, 8, 9)
	type list = []*tensor.Tensor
	tests := []struct {
		name string
		do   func(x *tensor.Tensor) error // x is a float32 [2 3]
		err  error
		text string
	}{
		{"reading another type", func(x *tensor.Tensor) error { return errOnly(tensor.Of[float64](x)) }, tensor.ErrDType, "dtype mismatch: got float32, want float64"},
		{"an item of another type", func(x *tensor.Tensor) error { return errOnly(tensor.Item[int8](must(x.Index(ix.At(0), ix.At(0))))) }, tensor.ErrDType, ""},
		{"elements of another type", func(x *tensor.Tensor) error { return errOnly(tensor.Elements[uint32](x)) }, tensor.ErrDType, ""},
		{"a map from another type", func(x *tensor.Tensor) error { return errOnly(tensor.Map(x, func(v uint32) uint32 { return v })) }, tensor.ErrDType, ""},
		{"a cast to no dtype", func(x *tensor.Tensor) error { return errOnly(x.Cast(0)) }, tensor.ErrDType, "dtype mismatch: got no dtype"},
		{"copying from another dtype", func(x *tensor.Tensor) error { return x.CopyFrom(wide()) }, tensor.ErrDType, "dtype mismatch: got float64, want float32"},
		{"copying from another dtype as wide", func(x *tensor.Tensor) error { return x.CopyFrom(tensor.Vector[int32](1, 2, 3)) }, tensor.ErrDType, ""},
		{"setting from another dtype", func(x *tensor.Tensor) error { return x.SetIndex(wide(), ix.Rest) }, tensor.ErrDType, ""},
		{"indexing into another dtype", func(x *tensor.Tensor) error { return x.IndexInto(wide(), ix.Rest) }, tensor.ErrDType, "dtype mismatch: got float32, want float64"},
		{"stacking different dtypes", func(x *tensor.Tensor) error { return errOnly(shapeops.Stack(list{x, wide()}, 0)) }, tensor.ErrDType, "value 1: dtype mismatch: got float64, want float32"},
		{"comparing different dtypes", func(x *tensor.Tensor) error { return errOnly(x.AllClose(wide(), 0, 0)) }, tensor.ErrDType, "dtype mismatch: got float64, want float32"},

		{"a slice of what is not in order", func(x *tensor.Tensor) error { return errOnly(tensor.Of[float32](must(x.Transpose(0, 1)))) }, tensor.ErrLayout,
			"unsuitable layout: got strides [1 3] for [3 2], want contiguous elements"},
		{"a slice of what is not aligned", func(*tensor.Tensor) error {
			return errOnly(tensor.Of[float32](specimenOf(t, tensor.Float32, []int{2}, contiguous, memories[1], 0).Tensor))
		}, tensor.ErrLayout, "unsuitable layout: the memory is not aligned for float32"},
		{"copying to an expanded tensor", func(x *tensor.Tensor) error { return must(x.Expand(4, 2, 3)).CopyFrom(row) }, tensor.ErrLayout,
			"unsuitable layout: the elements of an expanded dim 0 are one in memory"},
		{"indexing into an expanded tensor", func(x *tensor.Tensor) error {
			return row.IndexInto(must(must(x.Index(ix.All, ix.Range(0, 1))).Expand(2, 3)), ix.Take(0, 0), ix.New)
		}, tensor.ErrLayout, ""},
		{"setting an expanded tensor", func(x *tensor.Tensor) error { return must(x.Expand(4, 2, 3)).SetIndex(row, ix.Take(0)) }, tensor.ErrLayout, ""},
		{"stacking into an expanded tensor", func(x *tensor.Tensor) error {
			return shapeops.StackInto(must(must(x.Index(ix.At(0))).Expand(2, 3)), list{row, row}, 0)
		}, tensor.ErrLayout, ""},

		{"an item of several", func(x *tensor.Tensor) error { return errOnly(tensor.Item[float32](x)) }, shapeops.ErrShape, "shape mismatch: got [2 3], want one element"},
		{"an item of none", func(x *tensor.Tensor) error { return errOnly(tensor.Item[float32](must(x.Index(ix.Range(0, 0))))) }, shapeops.ErrShape, ""},
		{"copying what does not broadcast", func(x *tensor.Tensor) error { return x.CopyFrom(tensor.Vector[float32](1, 2)) }, shapeops.ErrShape,
			"shape mismatch: [2] does not expand to [2 3]"},
		{"setting what does not broadcast", func(x *tensor.Tensor) error { return x.SetIndex(row, ix.All, ix.Take(0, 1)) }, shapeops.ErrShape, ""},
		{"indexing into another shape", func(x *tensor.Tensor) error { return x.IndexInto(must(tensor.Zeros[float32](3, 1)), ix.Take(0, 1)) }, shapeops.ErrShape,
			"destination: shape mismatch: got [3 1], want [2 3]"},
		{"a destination never broadcasts", func(x *tensor.Tensor) error { return row.IndexInto(x, ix.New) }, shapeops.ErrShape, ""},
		{"stacking different shapes", func(x *tensor.Tensor) error { return errOnly(shapeops.Stack(list{x, row}, 0)) }, shapeops.ErrShape, "value 1: shape mismatch: got [3], want [2 3]"},
		{"stacking nothing", func(*tensor.Tensor) error { return errOnly(shapeops.Stack(list{}, 0)) }, shapeops.ErrShape, "shape mismatch: got nothing to stack, want at least one value"},
		{"stacking too far out", func(x *tensor.Tensor) error { return errOnly(shapeops.Stack(list{x, x}, 3)) }, shapeops.ErrDim, ""},
		{"stacking into another shape", func(x *tensor.Tensor) error { return shapeops.StackInto(x, list{row}, 0) }, shapeops.ErrShape,
			"destination: shape mismatch: got [2 3], want [1 3]"},
		{"stacking into nothing", func(*tensor.Tensor) error { return shapeops.StackInto(nil, list{row}, 0) }, shapeops.ErrShape, "shape mismatch: got no destination"},
		{"cat of different shapes", func(x *tensor.Tensor) error {
			return errOnly(shapeops.Cat(list{x, must(tensor.Zeros[float32](2, 4))}, 0))
		}, shapeops.ErrShape,
			"value 1: shape mismatch: got [2 4], want [2 3] but for dim 0"},
		{"cat of nothing", func(*tensor.Tensor) error { return errOnly(shapeops.Cat(list{}, 0)) }, shapeops.ErrShape, "shape mismatch: got nothing to cat, want at least one value"},
		{"cat of scalars", func(*tensor.Tensor) error { return errOnly(shapeops.Cat(list{tensor.Scalar(true)}, 0)) }, shapeops.ErrDim, ""},
		{"cat of sizes that overflow", func(*tensor.Tensor) error {
			return errOnly(shapeops.Cat(slices.Repeat(list{must(tensor.Scalar(true).Expand(math.MaxInt))}, 3), 0))
		}, shapeops.ErrShape, "value 1: shape mismatch: dim 0 overflows"},
		{"cat into another shape", func(x *tensor.Tensor) error { return shapeops.CatInto(x, list{x, x}, 0) }, shapeops.ErrShape, ""},
		{"pieces that do not add up", func(x *tensor.Tensor) error { return errOnly(shapeops.Split(x, 1, 1, 1)) }, shapeops.ErrShape,
			"shape mismatch: got pieces of [1 1], want sizes that add up to the 3 of dim 1"},
		{"a negative piece", func(x *tensor.Tensor) error { return errOnly(shapeops.Split(x, 1, 4, -1)) }, shapeops.ErrShape, ""},
		{"pieces whose sum overflows", func(x *tensor.Tensor) error { return errOnly(shapeops.Split(x, 1, math.MaxInt, math.MaxInt, 5)) }, shapeops.ErrShape, ""},
		{"pieces of nothing", func(x *tensor.Tensor) error { return errOnly(shapeops.SplitBy(x, 1, 0)) }, shapeops.ErrShape,
			"shape mismatch: got pieces of size 0 of dim 1 of [2 3], want a positive size of a dim that is not empty"},
		{"no chunk", func(x *tensor.Tensor) error { return errOnly(shapeops.Chunk(x, 1, 0)) }, shapeops.ErrShape, "shape mismatch: got 0 chunks, want at least one"},
		{"no such dim to split", func(x *tensor.Tensor) error { return errOnly(shapeops.Split(x, 2, 3)) }, shapeops.ErrDim, ""},
		{"no such dim to split by", func(x *tensor.Tensor) error { return errOnly(shapeops.SplitBy(x, 2, 3)) }, shapeops.ErrDim, ""},
		{"no such dim to chunk", func(x *tensor.Tensor) error { return errOnly(shapeops.Chunk(x, 2, 3)) }, shapeops.ErrDim, ""},
		{"no such dim to unbind", func(x *tensor.Tensor) error { return errOnly(shapeops.Unbind(x, -3)) }, shapeops.ErrDim, ""},
		{"comparing what does not broadcast", func(x *tensor.Tensor) error { return errOnly(row.AllClose(x, 0, 0)) }, shapeops.ErrShape, ""},
		{"an index out of range", func(x *tensor.Tensor) error { return errOnly(x.Index(ix.At(2))) }, shapeops.ErrIndex, ""},
		{"setting out of range", func(x *tensor.Tensor) error { return x.SetIndex(row, ix.Take(0, 2)) }, shapeops.ErrIndex, ""},
		{"indexing into, out of range", func(x *tensor.Tensor) error { return x.IndexInto(row, ix.At(-3)) }, shapeops.ErrIndex, ""},
		{"a plan for another shape", func(x *tensor.Tensor) error {
			p, err := shapeops.Shape{3}.Index(ix.Take(2))
			require.NoError(t, err)
			return errOnly(x.Execute(p))
		}, shapeops.ErrShape, "shape mismatch: got [2 3], want a shape that begins with [3]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := []float32{1, 2, 3, 4, 5, 6}
			err := tt.do(must(tensor.From(data, 2, 3)))
			require.ErrorIs(t, err, tt.err)
			if tt.text != "" {
				require.EqualError(t, err, tt.text)
			}
			require.Equal(t, []float32{1, 2, 3, 4, 5, 6}, data)
			require.Equal(t, "float32 [3]\n[7 8 9]", row.String())
		})
	}
}

// What cannot be is refused before memory is asked for.
func TestMaking(t *testing.T) {
	lent := &lender{}
	tests := []struct {
		name string
		err  error // of making
		want error
		text string
	}{
		{"no dtype", errOnly(tensor.New(0, 2)), tensor.ErrDType, "dtype mismatch: got no dtype"},
		{"a negative size", errOnly(tensor.Zeros[int8](2, -1)), shapeops.ErrShape, "shape mismatch: got [2 -1], want no negative size"},
		{"sizes that overflow", errOnly(tensor.Full(true, math.MaxInt, 2)), shapeops.ErrShape, ""},
		{"bytes that overflow", errOnly(tensor.New(tensor.Complex128, 1<<60)), shapeops.ErrShape, ""},
		{"bytes that overflow, lent", errOnly(tensor.FromLender(tensor.Complex128, lent, 1<<60)), shapeops.ErrShape, ""},
		{"all memory that an int can count", errOnly(tensor.New(tensor.Uint8, math.MaxInt)), shapeops.ErrShape, ""},
		{"more memory than a machine addresses", errOnly(tensor.Full(1.0, 1<<50)), shapeops.ErrShape, ""},
		{"too few elements", errOnly(tensor.From([]int8{1, 2, 3}, 2, 2)), shapeops.ErrShape, "shape mismatch: got 3 elements, want the 4 of [2 2]"},
		{"two elements of a scalar", errOnly(tensor.From([]int8{1, 2})), shapeops.ErrShape, "shape mismatch: got 2 elements, want the 1 of []"},
		{"too few bytes", errOnly(tensor.FromBytes(tensor.Int16, make([]byte, 7), 4)), shapeops.ErrShape, "shape mismatch: got 7 bytes, want the 8 of int16 [4]"},
		{"bytes of no dtype", errOnly(tensor.FromBytes(0, nil, 0)), tensor.ErrDType, ""},
		{"a range that goes nowhere", errOnly(tensor.Arange(0, 1, 0.0)), shapeops.ErrShape, "shape mismatch: got a range from 0 to 1 by 0"},
		{"a range of no number", errOnly(tensor.Arange(0, math.NaN(), 1)), shapeops.ErrShape, ""},
		{"a range without an end", errOnly(tensor.Arange(0, math.Inf(1), 1)), shapeops.ErrShape, "shape mismatch: got too many steps from 0 to +Inf by 1"},
		{"a range from no end to no end", errOnly(tensor.Arange(math.Inf(1), math.Inf(1), 1)), shapeops.ErrShape, ""},
		{"more values than memory", errOnly(tensor.Arange(0, 1<<52, 1.0)), shapeops.ErrShape, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.ErrorIs(t, tt.err, tt.want)
			if tt.text != "" {
				require.EqualError(t, tt.err, tt.text)
			}
		})
	}
	require.Zero(t, lent.borrowed.Load()+lent.pinned.Load())
}

// A shape that repeats one element may be larger than memory; only a copy of it is refused.
func TestHugeExpanded(t *testing.T) {
	x, err := tensor.Scalar(1.0).Expand(1 << 61)
	require.NoError(t, err)
	for _, err := range []error{
		errOnly(x.Clone()), errOnly(x.Contiguous()), errOnly(x.Cast(tensor.Bool)), errOnly(tensor.Elements[float64](x)),
		errOnly(x.WriteTo(&full{})), errOnly(shapeops.Stack([]*tensor.Tensor{x, x}, 0)),
	} {
		require.Error(t, err)
	}
	v, err := tensor.Item[float64](must(x.Index(ix.At(1 << 60))))
	require.NoError(t, err)
	require.Equal(t, 1.0, v)
}

func TestArange(t *testing.T) {
	tests := []struct {
		name string
		x    *tensor.Tensor
		want string
	}{
		{"up to but without stop", must(tensor.Arange[int8](0, 4, 2)), "int8 [2]\n[0 2]"},
		{"the last step may fall short", must(tensor.Arange[int8](0, 5, 2)), "int8 [3]\n[0 2 4]"},
		{"downwards", must(tensor.Arange[int8](3, 0, -1)), "int8 [3]\n[3 2 1]"},
		{"the wrong way round", must(tensor.Arange[uint8](3, 0, 1)), "uint8 [0]\n[]"},
		{"over the whole of a dtype", must(tensor.Arange[int8](-128, 127, 100)), "int8 [3]\n[-128  -28   72]"},
		{"fractions", must(tensor.Arange(0, 1, 0.25)), "float64 [4]\n[   0 0.25  0.5 0.75]"},
		{"integers that no float64 holds", must(tensor.Arange[int64](1<<60, 1<<60+3, 2)), "int64 [2]\n[1152921504606846976 1152921504606846978]"},
		{"unsigned integers that no int64 holds", must(tensor.Arange[uint64](math.MaxUint64-1, math.MaxUint64, 1)), "uint64 [1]\n[18446744073709551614]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.x.String()) })
	}
}

// A bool that is neither 0 nor 1 is refused by all that would make a Go bool of it.
func TestBadBools(t *testing.T) {
	for _, bad := range []byte{2, 128, 255} {
		b := []byte{1, 0, bad}
		for _, x := range []*tensor.Tensor{
			must(tensor.FromBytes(tensor.Bool, b, 3)),
			must(must(tensor.FromBytes(tensor.Bool, slices.Repeat(b, 2), 2, 3)).Transpose(0, 1)),
			must(tensor.FromLender(tensor.Bool, &lender{bytes: b}, 3)),
		} {
			for _, err := range []error{
				errOnly(tensor.Of[bool](must(x.Contiguous()))),
				errOnly(tensor.Elements[bool](x)),
				errOnly(tensor.Item[bool](must(x.Index(slices.Repeat([]ix.Index{ix.At(-1)}, len(x.Shape()))...)))),
				errOnly(tensor.Map(x, func(b bool) bool { return b })),
				errOnly(x.Cast(tensor.Uint8)),
			} {
				require.ErrorIs(t, err, tensor.ErrDType)
				require.ErrorContains(t, err, "of bool, want 0 or 1")
			}
		}
	}
	_, err := tensor.Of[bool](must(tensor.FromBytes(tensor.Bool, []byte{1, 7}, 2)))
	require.EqualError(t, err, "dtype mismatch: got byte 7 as element 1 of bool, want 0 or 1")
}

// Whoever lends too little, or nothing any more, is reported by all that wants an element.
func TestBadLenders(t *testing.T) {
	gone := errors.New("closed")
	tests := []struct {
		name string
		lent *lender
		err  error
		text string
	}{
		{"too few bytes", &lender{bytes: make([]byte, 7)}, tensor.ErrLayout, "unsuitable layout: got 7 bytes lent, want 8"},
		{"nothing any more", &lender{fail: gone}, gone, "closed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := must(tensor.FromLender(tensor.Int32, tt.lent, 2))
			other := tensor.Vector[int32](5, 6)
			for _, err := range []error{
				errOnly(x.Clone()), errOnly(x.Cast(tensor.Bool)), errOnly(tensor.Of[int32](x)), errOnly(tensor.Elements[int32](x)),
				errOnly(tensor.Item[int32](must(x.Index(ix.At(0))))), errOnly(x.WriteTo(&full{99})), errOnly(x.AsIndex()),
				errOnly(x.Index(ix.Take(0))), errOnly(shapeops.Stack([]*tensor.Tensor{x, other}, 0)), errOnly(x.AllClose(x, 0, 0)),
				x.CopyFrom(other), other.CopyFrom(x), x.SetIndex(other, ix.Rest), x.IndexInto(other, ix.Take(0, 1)),
			} {
				require.ErrorIs(t, err, tt.err)
				require.EqualError(t, err, tt.text)
			}
			require.False(t, x.Equal(x))
			require.Zero(t, tt.lent.borrowed.Load(), "what was borrowed is returned")
			require.Equal(t, "int32 [2]\n[5 6]", other.String())
		})
	}
	more := must(tensor.FromLender(tensor.Uint8, &lender{bytes: make([]byte, 99)}, 2))
	require.Equal(t, "uint8 [2]\n[0 0]", more.String(), "more than enough is fine")
}

func TestReadOnly(t *testing.T) {
	lent := &lender{bytes: []byte{1, 2, 3}, readOnly: true}
	x, y := must(tensor.FromLender(tensor.Uint8, lent, 3)), tensor.Vector[uint8](7, 8, 9)
	for _, err := range []error{
		x.CopyFrom(y), y.CopyTo(x), x.SetIndex(y, ix.Rest), x.SetIndex(y, ix.Take(0, 1, 2)), y.IndexInto(x, ix.Take(2, 1, 0)),
		must(x.Index(ix.At(0))).CopyFrom(tensor.Scalar[uint8](1)), shapeops.CatInto(x, []*tensor.Tensor{y}, 0),
	} {
		require.ErrorIs(t, err, tensor.ErrReadOnly)
		require.EqualError(t, err, "read-only memory")
	}
	require.Equal(t, []byte{1, 2, 3}, lent.bytes)
	require.NoError(t, y.CopyFrom(x), "reading is fine")
}
