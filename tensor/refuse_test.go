package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// An operation that is refused names what is wrong, and changes nothing.
func TestRefusals(t *testing.T) {
	wide := func() *tensor.Tensor { return tensor.Must(tensor.Zeros[float64](2, 3)) }
	row := tensor.Vector[float32](7, 8, 9)
	type list = []*tensor.Tensor
	fresh := func() *tensor.Tensor { return tensor.Must(tensor.From([]float32{1, 2, 3, 4, 5, 6}, 2, 3)) }
	state := func(_ testing.TB, x *tensor.Tensor) string { return x.String() + row.String() }
	testkit.Refuse(t, fresh, state, []testkit.Refusal[*tensor.Tensor]{
		{"reading another type", func(x *tensor.Tensor) error { return testkit.Err(tensor.Of[float64](x)) }, tensor.ErrDType},
		{"elements of another type", func(x *tensor.Tensor) error { return testkit.Err(tensor.Elements[uint32](x)) }, tensor.ErrDType},
		{"a cast to no dtype", func(x *tensor.Tensor) error { return testkit.Err(x.Cast(0)) }, tensor.ErrDType},
		{"copying from another dtype", func(x *tensor.Tensor) error { return x.CopyFrom(wide()) }, tensor.ErrDType},
		{"copying from another dtype as wide", func(x *tensor.Tensor) error { return x.CopyFrom(tensor.Vector[int32](1, 2, 3)) }, tensor.ErrDType},
		{"setting from another dtype", func(x *tensor.Tensor) error { return x.SetIndex(wide(), ix.Rest) }, tensor.ErrDType},
		{"indexing into another dtype", func(x *tensor.Tensor) error { return x.IndexInto(wide(), ix.Rest) }, tensor.ErrDType},
		{"stacking different dtypes", func(x *tensor.Tensor) error { return testkit.Err(shapeops.Stack(list{x, wide()}, 0)) }, tensor.ErrDType},
		{"comparing different dtypes", func(x *tensor.Tensor) error { return testkit.Err(x.AllClose(wide(), tensor.Tolerance{})) }, tensor.ErrDType},

		{"a slice of what is not in order", func(x *tensor.Tensor) error { return testkit.Err(tensor.Of[float32](tensor.Must(x.Transpose(0, 1)))) }, tensor.ErrLayout},
		{"a slice of what is not aligned", func(*tensor.Tensor) error {
			return testkit.Err(tensor.Of[float32](testkit.Make(t, tensor.Float32, []int{2}, testkit.Contiguous, testkit.Unaligned, 0).Tensor))
		}, tensor.ErrLayout},
		{"indexing into an expanded tensor", func(x *tensor.Tensor) error {
			return row.IndexInto(tensor.Must(tensor.Must(x.Index(ix.All, ix.Range(0, 1))).Expand(2, 3)), ix.Take(0, 0), ix.New)
		}, tensor.ErrLayout},
		{"setting an expanded tensor", func(x *tensor.Tensor) error { return tensor.Must(x.Expand(4, 2, 3)).SetIndex(row, ix.Take(0)) }, tensor.ErrLayout},
		{"stacking into an expanded tensor", func(x *tensor.Tensor) error {
			return shapeops.StackInto(tensor.Must(tensor.Must(x.Index(ix.At(0))).Expand(2, 3)), list{row, row}, 0)
		}, tensor.ErrLayout},

		{"an item of several", func(x *tensor.Tensor) error { return testkit.Err(tensor.Item[float32](x)) }, shapeops.ErrShape},
		{"an item of none", func(x *tensor.Tensor) error {
			return testkit.Err(tensor.Item[float32](tensor.Must(x.Index(ix.Range(0, 0)))))
		}, shapeops.ErrShape},
		{"copying what does not broadcast", func(x *tensor.Tensor) error { return x.CopyFrom(tensor.Vector[float32](1, 2)) }, shapeops.ErrShape},
		{"setting what does not broadcast", func(x *tensor.Tensor) error { return x.SetIndex(row, ix.All, ix.Take(0, 1)) }, shapeops.ErrShape},
		{"indexing into another shape", func(x *tensor.Tensor) error {
			return x.IndexInto(tensor.Must(tensor.Zeros[float32](3, 1)), ix.Take(0, 1))
		}, shapeops.ErrShape},
		{"a destination never broadcasts", func(x *tensor.Tensor) error { return row.IndexInto(x, ix.New) }, shapeops.ErrShape},
		{"comparing what does not broadcast", func(x *tensor.Tensor) error { return testkit.Err(row.AllClose(x, tensor.Tolerance{})) }, shapeops.ErrShape},
		{"an index out of range", func(x *tensor.Tensor) error { return testkit.Err(x.Index(ix.At(2))) }, shapeops.ErrIndex},
		{"setting out of range", func(x *tensor.Tensor) error { return x.SetIndex(row, ix.Take(0, 2)) }, shapeops.ErrIndex},
		{"indexing into, out of range", func(x *tensor.Tensor) error { return x.IndexInto(row, ix.At(-3)) }, shapeops.ErrIndex},
		{"a plan for another shape", func(x *tensor.Tensor) error {
			p := tensor.Must(plan.Index(shapeops.Shape{3}, ix.Take(2)))
			return testkit.Err(x.Ops().Execute(plan.NewPass(p)))
		}, shapeops.ErrShape},
	})
}

// What cannot be is refused before memory is asked for.
func TestMaking(t *testing.T) {
	lent := &testkit.Lender{}
	tests := []struct {
		name string
		err  error // of making
		want error
	}{
		{"no dtype", testkit.Err(tensor.New(0, 2)), tensor.ErrDType},
		{"a negative size", testkit.Err(tensor.Zeros[int8](2, -1)), shapeops.ErrShape},
		{"sizes that overflow", testkit.Err(tensor.Full(true, math.MaxInt, 2)), shapeops.ErrShape},
		{"bytes that overflow", testkit.Err(tensor.New(tensor.Complex128, 1<<60)), shapeops.ErrShape},
		{"bytes that overflow, lent", testkit.Err(tensor.FromLender(tensor.Complex128, lent, 0, 1<<60)), shapeops.ErrShape},
		{"all memory that an int can count", testkit.Err(tensor.New(tensor.Uint8, math.MaxInt)), shapeops.ErrShape},
		{"more memory than a machine addresses", testkit.Err(tensor.Full(1.0, 1<<50)), shapeops.ErrShape},
		{"too few elements", testkit.Err(tensor.From([]int8{1, 2, 3}, 2, 2)), shapeops.ErrShape},
		{"two elements of a scalar", testkit.Err(tensor.From([]int8{1, 2})), shapeops.ErrShape},
		{"too few bytes", testkit.Err(tensor.FromBytes(tensor.Int16, make([]byte, 7), 4)), shapeops.ErrShape},
		{"bytes of no dtype", testkit.Err(tensor.FromBytes(0, nil, 0)), tensor.ErrDType},
		{"a range that goes nowhere", testkit.Err(tensor.Arange(0, 1, 0.0)), shapeops.ErrShape},
		{"a range of no number", testkit.Err(tensor.Arange(0, math.NaN(), 1)), shapeops.ErrShape},
		{"a range without an end", testkit.Err(tensor.Arange(0, math.Inf(1), 1)), shapeops.ErrShape},
		{"a range from no end to no end", testkit.Err(tensor.Arange(math.Inf(1), math.Inf(1), 1)), shapeops.ErrShape},
		{"a range of endless steps", testkit.Err(tensor.Arange(0, 1, math.Inf(1))), shapeops.ErrShape},
		{"more values than memory", testkit.Err(tensor.Arange(0, 1<<52, 1.0)), shapeops.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.want, tt.err) })
	}
	require.Zero(t, lent.Borrowed()+lent.Pinned())
}

// A shape that repeats one element may be larger than memory; only a copy of it is refused.
func TestHugeExpanded(t *testing.T) {
	x := tensor.Must(tensor.Scalar(1.0).Expand(1 << 61))
	testkit.MaxBytes(t, 2<<20, func() { // WriteTo copies 1 MiB at a time
		for _, err := range []error{
			testkit.Err(x.Clone()), testkit.Err(x.Contiguous()), testkit.Err(x.Cast(tensor.Bool)), testkit.Err(tensor.Elements[float64](x)),
			testkit.Err(x.WriteTo(&full{})), testkit.Err(shapeops.Stack([]*tensor.Tensor{x, x}, 0)),
		} {
			require.Error(t, err)
		}
	})
	v := tensor.Must(tensor.Item[float64](tensor.Must(x.Index(ix.At(1 << 60)))))
	require.Equal(t, 1.0, v)
}

func TestArange(t *testing.T) {
	tests := []struct {
		name string
		x    *tensor.Tensor
		want string
	}{
		{"up to but without stop", tensor.Must(tensor.Arange[int8](0, 4, 2)), "int8 [2]\n[0 2]"},
		{"the last step may fall short", tensor.Must(tensor.Arange[int8](0, 5, 2)), "int8 [3]\n[0 2 4]"},
		{"downwards", tensor.Must(tensor.Arange[int8](3, 0, -1)), "int8 [3]\n[3 2 1]"},
		{"the wrong way round", tensor.Must(tensor.Arange[uint8](3, 0, 1)), "uint8 [0]\n[]"},
		{"over the whole of a dtype", tensor.Must(tensor.Arange[int8](-128, 127, 100)), "int8 [3]\n[-128  -28   72]"},
		{"fractions", tensor.Must(tensor.Arange(0, 1, 0.25)), "float64 [4]\n[   0 0.25  0.5 0.75]"},
		{"integers that no float64 holds", tensor.Must(tensor.Arange[int64](1<<60, 1<<60+3, 2)), "int64 [2]\n[1152921504606846976 1152921504606846978]"},
		{"unsigned integers that no int64 holds", tensor.Must(tensor.Arange[uint64](math.MaxUint64-1, math.MaxUint64, 1)), "uint64 [1]\n[18446744073709551614]"},
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
			tensor.Must(tensor.FromBytes(tensor.Bool, b, 3)),
			tensor.Must(tensor.Must(tensor.FromBytes(tensor.Bool, slices.Repeat(b, 2), 2, 3)).Transpose(0, 1)),
			tensor.Must(tensor.FromLender(tensor.Bool, &testkit.Lender{Bytes: b}, 0, 3)),
		} {
			for _, err := range []error{
				testkit.Err(tensor.Of[bool](tensor.Must(x.Contiguous()))),
				testkit.Err(tensor.Elements[bool](x)),
				testkit.Err(tensor.Item[bool](tensor.Must(x.Index(slices.Repeat([]ix.Index{ix.At(-1)}, len(x.Shape()))...)))),
				testkit.Err(tensor.Map(x, func(b bool) bool { return b })),
				testkit.Err(x.Cast(tensor.Uint8)),
			} {
				require.ErrorIs(t, err, tensor.ErrDType)
			}
		}
	}
	testkit.Fails(t, tensor.ErrDType, testkit.Err(tensor.Of[bool](tensor.Must(tensor.FromBytes(tensor.Bool, []byte{1, 7}, 2)))))
}

// Whoever lends too little, or nothing any more, is reported by all that wants an element.
func TestBadLenders(t *testing.T) {
	gone := errors.New("closed")
	tests := []struct {
		name string
		lent *testkit.Lender
		err  error
	}{
		{"too few bytes", &testkit.Lender{Bytes: make([]byte, 7)}, tensor.ErrLayout},
		{"nothing any more", &testkit.Lender{Fail: gone}, gone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := tensor.Must(tensor.FromLender(tensor.Int32, tt.lent, 0, 2))
			other := tensor.Vector[int32](5, 6)
			reason := testkit.Err(x.Clone())
			testkit.Fails(t, tt.err, reason)
			for _, err := range []error{
				testkit.Err(x.Cast(tensor.Bool)), testkit.Err(tensor.Of[int32](x)), testkit.Err(tensor.Elements[int32](x)),
				testkit.Err(tensor.Item[int32](tensor.Must(x.Index(ix.At(0))))), testkit.Err(x.WriteTo(&full{99})), testkit.Err(x.AsIndex()),
				testkit.Err(x.Index(ix.Take(0))), testkit.Err(x.AllClose(x, tensor.Tolerance{})),
				x.CopyFrom(other), other.CopyFrom(x), x.SetIndex(other, ix.Rest), x.IndexInto(other, ix.Take(0, 1)),
			} {
				require.ErrorIs(t, err, tt.err)
				require.Regexp(t, "^([a-z ]+: )?"+regexp.QuoteMeta(reason.Error())+"$", err.Error(), "at most an operation comes first")
			}
			require.ErrorIs(t, testkit.Err(shapeops.Stack([]*tensor.Tensor{x, other}, 0)), tt.err)
			require.False(t, x.Equal(x))
			require.Zero(t, tt.lent.Borrowed(), "what was borrowed is returned")
			require.Equal(t, "int32 [2]\n[5 6]", other.String())
		})
	}
	more := tensor.Must(tensor.FromLender(tensor.Uint8, &testkit.Lender{Bytes: make([]byte, 99)}, 0, 2))
	require.Equal(t, "uint8 [2]\n[0 0]", more.String(), "more than enough is fine")
}

func TestReadOnly(t *testing.T) {
	lent := &testkit.Lender{Bytes: []byte{1, 2, 3}, Locked: true}
	x, y := tensor.Must(tensor.FromLender(tensor.Uint8, lent, 0, 3)), tensor.Vector[uint8](7, 8, 9)
	for _, err := range []error{
		x.CopyFrom(y), x.CopyFrom(y), x.SetIndex(y, ix.Rest), x.SetIndex(y, ix.Take(0, 1, 2)), y.IndexInto(x, ix.Take(2, 1, 0)),
		tensor.Must(x.Index(ix.At(0))).CopyFrom(tensor.Scalar[uint8](1)), shapeops.CatInto(x, []*tensor.Tensor{y}, 0),
	} {
		require.ErrorIs(t, err, tensor.ErrReadOnly)
	}
	require.Equal(t, []byte{1, 2, 3}, lent.Bytes)
	require.NoError(t, y.CopyFrom(x), "reading is fine")
}

// A nil tensor in a list, and a nil pass, are errors wherever they are arguments. (A call with nil
// for each tensor is in internal/test/conformance.)
func TestNilArguments(t *testing.T) {
	type list = []*tensor.Tensor
	x, tr := tensor.Vector[int8](1, 2, 3), &tensor.Transfer{}
	all := pass(plan.Index(shapeops.Shape{3}, ix.Take(0, 1, 2)))
	joining := &plan.Pass{Join: tensor.Must(plan.Stack(2, func(int) shapeops.Shape { return shapeops.Shape{3} }, 0))}
	tests := []struct {
		name string
		do   func() error
	}{
		{"from lender", func() error { return testkit.Err(tensor.FromLender(tensor.Int8, nil, 0, 3)) }},
		{"execute", func() error { return testkit.Err(x.Ops().Execute(nil)) }},
		{"execute a pass without a plan", func() error { return testkit.Err(x.Ops().Execute(&plan.Pass{})) }},
		{"execute into", func() error { return x.Ops().AddExecute(tr, nil, all) }},
		{"execute into, of no plan", func() error { return x.Ops().AddExecute(tr, x, nil) }},
		{"a transfer's write", func() error { return x.Ops().AddWrite(tr, nil, all) }},
		{"a transfer's write by no plan", func() error { return x.Ops().AddWrite(tr, x, nil) }},
		{"a transfer's copy to", func() error { return tr.Copy(nil, x) }},
		{"a transfer's copy from", func() error { return tr.Copy(x, nil) }},
		{"a transfer's fill of", func() error { return tr.Fill(nil, x) }},
		{"a transfer's fill with", func() error { return tr.Fill(x, nil) }},
		{"a transfer's runs to", func() error { return tr.Runs(nil, x, nil) }},
		{"a transfer's runs from", func() error { return tr.Runs(x, nil, nil) }},
		{"a transfer's write by a pass without a plan", func() error { return x.Ops().AddWrite(tr, x, &plan.Pass{}) }},
		{"join", func() error { return testkit.Err(x.Ops().Join(nil, list{x})) }},
		{"join by a pass without a plan", func() error { return testkit.Err(x.Ops().Join(&plan.Pass{}, list{x})) }},
		{"join nothing", func() error { return testkit.Err(x.Ops().Join(joining, nil)) }},
		{"join what is nil", func() error { return testkit.Err(x.Ops().Join(joining, list{x, nil})) }},
		{"join what begins with nil", func() error { return testkit.Err(x.Ops().Join(joining, list{nil, x})) }},
		{"join into", func() error { return x.Ops().JoinInto(joining, nil, list{x, x}) }},
		{"join nil into", func() error { return x.Ops().JoinInto(joining, x, list{x, nil}) }},
		{"stack", func() error { return testkit.Err(shapeops.Stack(list{x, nil}, 0)) }},
		{"stack from nil on", func() error { return testkit.Err(shapeops.Stack(list{nil, x}, 0)) }},
		{"stack nil into", func() error { return shapeops.StackInto(x, list{nil}, 0) }},
		{"cat", func() error { return testkit.Err(shapeops.Cat(list{x, nil}, 0)) }},
		{"cat nil into", func() error { return shapeops.CatInto(x, list{nil}, 0) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NotPanics(t, func() { require.ErrorIs(t, tt.do(), tensor.ErrKind) })
		})
	}
	require.NoError(t, tr.Run(), "nothing was added")
	require.False(t, x.Equal(nil))
	require.False(t, x.SharesMemory(nil))
	require.Equal(t, "int8 [3]\n[1 2 3]", fmt.Sprint(x))
}

// The bytes of an expanded tensor may be more than an int counts, its elements not.
func TestByteSizeSaturates(t *testing.T) {
	x := tensor.Scalar(1.0)
	for n, want := range map[int]int{3: 24, 1 << 59: 1 << 62, 1 << 60: math.MaxInt, 1 << 61: math.MaxInt, 1 << 62: math.MaxInt, math.MaxInt: math.MaxInt} {
		require.Equal(t, want, tensor.Must(x.Expand(n)).ByteSize(), n)
	}
	require.Zero(t, tensor.Must(x.Expand(1<<62, 0)).ByteSize())
	require.Equal(t, 1<<62, tensor.Must(tensor.Scalar(true).Expand(1<<62)).ByteSize())
}

// An expanded tensor cannot be written since its elements are one in memory; where it has none,
// there is nothing against it.
func TestWritingEmptyExpandedTensors(t *testing.T) {
	base := tensor.Must(tensor.Zeros[int8](1, 0))
	x := tensor.Must(base.Expand(4, 3, 0))
	row := tensor.Must(tensor.Zeros[int8](3, 0))
	require.NoError(t, x.CopyFrom(row))
	require.NoError(t, x.SetIndex(row, ix.At(1)))
	require.NoError(t, x.SetIndex(row, ix.Take(0, 0)))
	require.NoError(t, x.SetIndex(tensor.Scalar[int8](1), ix.Rest))
	require.NoError(t, tensor.Must(tensor.Zeros[int8](4, 3, 0)).IndexInto(x, ix.Take(3, 2, 1, 0)))
	require.NoError(t, shapeops.StackInto(x, []*tensor.Tensor{row, row, row, row}, 0))
	require.NoError(t, tensor.Write(x, func(s []int8) { require.Empty(t, s) }))
	var tr tensor.Transfer
	require.NoError(t, tr.Fill(x, tensor.Scalar[int8](1)))
	require.NoError(t, tr.Runs(x, x, []shape.Run{{To: 0, From: 1, Len: 3}}))
	require.NoError(t, tr.Run())

	full := tensor.Must(tensor.Must(tensor.Zeros[int8](1, 2)).Expand(4, 2))
	require.ErrorIs(t, full.CopyFrom(tensor.Vector[int8](1, 2)), tensor.ErrLayout)
	require.NoError(t, tensor.Must(full.Index(ix.Range(2, 2))).CopyFrom(tensor.Vector[int8](1, 2)), "no row of it")
}

// The errors of what works on several values or gives several say which operation failed.
func TestErrorsNameTheOperation(t *testing.T) {
	type list = []*tensor.Tensor
	x, y := tensor.Vector[int8](1, 2), tensor.Vector[int8](1, 2, 3)
	wide := tensor.Vector(1.0, 2)
	tests := []struct {
		want string
		err  error
	}{
		{"stack: value 1: ", testkit.Err(shapeops.Stack(list{x, y}, 0))},
		{"stack: value 1: ", testkit.Err(shapeops.Stack(list{x, wide}, 0))},
		{"stack: value 1: ", testkit.Err(shapeops.Stack(list{x, nil}, 0))},
		{"stack: ", testkit.Err(shapeops.Stack(list{x, x}, 2))},
		{"stack: ", testkit.Err(shapeops.Stack(list{}, 0))},
		{"stack: destination: ", shapeops.StackInto(y, list{x, x}, 0)},
		{"stack: ", shapeops.StackInto(nil, list{x, x}, 0)},
		{"stack: value 1: ", shapeops.StackInto(tensor.Must(tensor.Zeros[int8](2, 2)), list{x, wide}, 0)},
		{"cat: ", testkit.Err(shapeops.Cat(list{x, x}, 1))},
		{"cat: value 1: ", testkit.Err(shapeops.Cat(list{x, tensor.Scalar[int8](1)}, 0))},
		{"cat: value 1: ", testkit.Err(shapeops.Cat(list{x, wide}, 0))},
		{"cat: destination: ", shapeops.CatInto(y, list{x, x}, 0)},
		{"split: ", testkit.Err(shapeops.Split(x, 0, 3))},
		{"split by: ", testkit.Err(shapeops.SplitBy(x, 0, 0))},
		{"chunk: ", testkit.Err(shapeops.Chunk(x, 0, 0))},
		{"chunk: ", testkit.Err(shapeops.Chunk(x, 1, 1))},
		{"unbind: ", testkit.Err(shapeops.Unbind(x, 1))},
	}
	for _, tt := range tests {
		require.Error(t, tt.err, tt.want)
		require.Regexp(t, "^"+tt.want+"[^:]", tt.err.Error())
	}
}
