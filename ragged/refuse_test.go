package ragged_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// oneDeep returns [3 *]: {1 2} {} {3}.
func oneDeep() *ragged.Tensor {
	return tensor.Must(ragged.From[int64]([][]int64{{1, 2}, {}, {3}}))
}

// twoDeep returns [3 * *].
func twoDeep() *ragged.Tensor {
	return tensor.Must(ragged.From[int64]([][][]int64{{{1}, {2, 3}}, {}, {{}}}))
}

// patients returns a collection of both, and of a field of depth 0.
func patients() *joint.Joint {
	return tensor.Must(joint.New(
		joint.Field{Name: "age", Tensor: tensor.Must(ragged.From[uint8]([]uint8{70, 80, 90}))},
		joint.Field{Name: "day", Tensor: oneDeep()},
		joint.Field{Name: "code", Tensor: tensor.Must(ragged.From[int64]([][][]int64{{{1}, {2, 3}}, {}, {{}}}))},
	))
}

func stateOf(t testing.TB, x *ragged.Tensor) string { return modelOf(t, x).String() }

func layoutErr(batch shapeops.Shape, offsets ...[]int64) error {
	return testkit.Err(ragged.NewLayout(batch, offsets...))
}

// Layouts that cannot be are refused, with level and row.
func TestLayoutRefusals(t *testing.T) {
	type list = []int64
	one := shapeops.Shape{1}
	three := shapeops.Shape{3}
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"a negative batch", layoutErr(shapeops.Shape{-1}), shapeops.ErrShape},
		{"no offsets at all", layoutErr(three, nil), ragged.ErrOffsets},
		{"too few offsets", layoutErr(three, list{0, 1, 2}), ragged.ErrOffsets},
		{"too many offsets", layoutErr(three, list{0, 1, 2, 3, 4}), ragged.ErrOffsets},
		{"too few at level 2", layoutErr(three, list{0, 1, 2, 3}, list{0, 1, 2}), ragged.ErrOffsets},
		{"offsets that decrease", layoutErr(three, list{0, 2, 1, 3}), ragged.ErrOffsets},
		{"that decrease at level 2", layoutErr(one, list{0, 2}, list{0, 2, 1}), ragged.ErrOffsets},
		{"that do not begin with 0", layoutErr(one, list{1, 2}), ragged.ErrOffsets},
		{"that are negative", layoutErr(one, list{-1, 2}), ragged.ErrOffsets},
		{"that are negative later", layoutErr(shapeops.Shape{2}, list{0, -5, 2}), ragged.ErrOffsets},
		{"of more rows than can be counted", testkit.Err(tensor.Must(ragged.LayoutOf(one, list{math.MaxInt64})).Nest(list{0})), ragged.ErrOffsets},
		{"too few lengths", testkit.Err(ragged.LayoutOf(three, list{1, 2})), ragged.ErrOffsets},
		{"too few lengths at level 2", testkit.Err(ragged.LayoutOf(one, list{3}, list{1, 2})), ragged.ErrOffsets},
		{"a negative length", testkit.Err(ragged.LayoutOf(three, list{1, -1, 2})), ragged.ErrLengths},
		{"a negative length at level 2", testkit.Err(ragged.LayoutOf(one, list{2}, list{1, -1})), ragged.ErrLengths},
		{"lengths that overflow", testkit.Err(ragged.LayoutOf(shapeops.Shape{2}, list{math.MaxInt64, 1})), ragged.ErrLengths},
		{"nesting a part of another", testkit.Err(tensor.Must(oneDeep().Row(2)).Layout().Nest(list{0, 1})), shapeops.ErrKind},
		{"level 0 of offsets", testkit.Err(oneDeep().Layout().Offsets(0)), shapeops.ErrDim},
		{"a level that is not there", testkit.Err(oneDeep().Layout().Lengths(2)), shapeops.ErrDim},
		{"a negative one", testkit.Err(oneDeep().Layout().Offsets(-2)), shapeops.ErrDim},
		{"rows of a level that is not there", testkit.Err(oneDeep().Layout().NumRows(2)), shapeops.ErrDim},
		{"rows of a negative one", testkit.Err(oneDeep().Layout().NumRows(-3)), shapeops.ErrDim},
		{"a depth that is not there", testkit.Err(oneDeep().Layout().At(2)), shapeops.ErrDim},
		{"row numbers of a level that is not there", testkit.Err(oneDeep().Layout().RowIDs(2)), shapeops.ErrDim},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.want, tt.err) })
	}
}

// Tensors that cannot be are refused.
func TestTensorRefusals(t *testing.T) {
	type list = []int64
	values := tensor.Vector[int64](1, 2, 3)
	l := oneDeep().Layout()
	bits := tensor.Vector(true, false)
	two := tensor.Must(tensor.From([]float32{1, 2, 3, 4}, 2, 2))
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"a part of a layout", testkit.Err(ragged.New(values, tensor.Must(oneDeep().Row(0)).Layout())), shapeops.ErrKind},
		{"too many values", testkit.Err(ragged.New(tensor.Vector[int64](1, 2, 3, 4), l)), ragged.ErrOffsets},
		{"too few values", testkit.Err(ragged.New(tensor.Vector[int64](1, 2), l)), ragged.ErrOffsets},
		{"values without a dim", testkit.Err(ragged.New(tensor.Scalar[int64](1), l)), ragged.ErrOffsets},
		{"no offset", testkit.Err(ragged.FromOffsets(values, list{})), ragged.ErrOffsets},
		{"offsets past the values", testkit.Err(ragged.FromOffsets(values, list{0, 4})), ragged.ErrOffsets},
		{"offsets from before the values", testkit.Err(ragged.FromOffsets(values, []int32{-1, 2})), ragged.ErrOffsets},
		{"offsets that decrease", testkit.Err(ragged.FromOffsets(values, []int32{1, 3, 2})), ragged.ErrOffsets},
		{"offsets that wrap around", testkit.Err(ragged.FromOffsets(values, list{1, math.MinInt64 + 1, 3})), ragged.ErrOffsets},
		{"no lengths", testkit.Err(ragged.FromLengths(values)), ragged.ErrLengths},
		{"row numbers that decrease", testkit.Err(ragged.FromRowIDs(values, list{0, 1, 0}, 2)), ragged.ErrOffsets},
		{"row numbers past the rows", testkit.Err(ragged.FromRowIDs(values, list{0, 1, 2}, 2)), ragged.ErrOffsets},
		{"a negative row number", testkit.Err(ragged.FromRowIDs(values, list{-1, 1, 1}, 2)), ragged.ErrOffsets},
		{"too few row numbers", testkit.Err(ragged.FromRowIDs(values, list{0}, 2)), ragged.ErrLengths},
		{"a negative number of rows", testkit.Err(ragged.FromRowIDs(values, nil, -1)), shapeops.ErrShape},
		{"no mask", testkit.Err(ragged.FromMasks(values)), shapeops.ErrKind},
		{"a mask of numbers", testkit.Err(ragged.FromMasks(values, values)), tensor.ErrDType},
		{"a mask of another size", testkit.Err(ragged.FromMasks(values, bits)), shapeops.ErrShape},
		{"a value in a row that is not there", testkit.Err(ragged.FromMasks(two, bits, tensor.Must(tensor.Full(true, 2, 2)))), ragged.ErrLengths},
		{"slices of another type", testkit.Err(ragged.From[int64]([][]int32{{1}})), shapeops.ErrKind},
		{"values of two depths", testkit.Err(ragged.From[int64]([]any{int64(1), []int64{2}})), ragged.ErrLengths},
		{"rows of two depths", testkit.Err(ragged.From[int64]([]any{[]int64{2}, [][]int64{{1}}})), ragged.ErrLengths},
		{"another depth than is known", testkit.Err(ragged.FromDepth[int64]([][]int64{{1}}, 2)), ragged.ErrLengths},
		{"an empty list of unknown depth", testkit.Err(ragged.From[int64]([]any{})), ragged.ErrLengths},
		{"no number to tell a dtype from", testkit.Err(inferred([]any{[]any{}})), tensor.ErrDType},
		{"a string", testkit.Err(inferred([]any{"one"})), shapeops.ErrKind},
		{"slices that are not of numbers", testkit.Err(inferred([]any{[]string{"one"}})), shapeops.ErrKind},
		{"integers that none holds", testkit.Err(inferred([]any{-1, uint64(math.MaxUint64)})), tensor.ErrDType},
		{"an integer that the dtype does not hold", testkit.Err(inferredAs([]any{1, 300}, tensor.Uint8)), tensor.ErrDType},
		{"a number that a bool does not hold", testkit.Err(inferredAs([]any{1, 2}, tensor.Bool)), tensor.ErrDType},
		{"a float that overflows", testkit.Err(inferredAs([]any{1e300}, tensor.Float32)), tensor.ErrDType},
		{"a negative one", testkit.Err(inferredAs([]any{-1}, tensor.Uint64)), tensor.ErrDType},
		{"a fraction as an integer", testkit.Err(inferredAs([]any{1.5}, tensor.Int64)), tensor.ErrDType},
		{"NaN as an integer", testkit.Err(inferredAs([]any{"NaN"}, tensor.Int64)), tensor.ErrDType},
		{"slices of another dtype", testkit.Err(inferredAs([]int64{1}, tensor.Int32)), tensor.ErrDType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.want, tt.err) })
	}
}

// Operations that are refused change nothing. A nil tensor or function as an argument is ErrKind.
func TestOperationRefusals(t *testing.T) {
	type list = []*ragged.Tensor
	zero := &ragged.Tensor{}
	row := func(n ...int64) *ragged.Tensor { return tensor.Must(ragged.From[int64]([][]int64{n})) }
	bits := func(b ...[]bool) *ragged.Tensor { return tensor.Must(ragged.From[bool](b)) }
	pairs := func(x *ragged.Tensor) *ragged.Tensor {
		return tensor.Must(ragged.New(tensor.Must(tensor.Zeros[int64](3, 2)), x.Layout()))
	}
	type err = testkit.Refusal[*ragged.Tensor]
	testkit.Refuse(t, oneDeep, stateOf, []err{
		{"a row that is not there", func(x *ragged.Tensor) error { return testkit.Err(x.Row(3)) }, shapeops.ErrIndex},
		{"a row of a row that is not there", func(x *ragged.Tensor) error { return testkit.Err(x.Path(ix.At(1), ix.At(0))) }, shapeops.ErrIndex},
		{"a path too long", func(x *ragged.Tensor) error { return testkit.Err(x.Path(ix.At(0), ix.At(0), ix.At(0))) }, shapeops.ErrIndex},
		{"a path of a list", func(x *ragged.Tensor) error { return testkit.Err(x.Path(ix.Take(0))) }, shapeops.ErrIndex},
		{"a range in the middle of a path", func(x *ragged.Tensor) error { return testkit.Err(x.Path(ix.All, ix.At(0))) }, shapeops.ErrIndex},
		{"an index that is not there", func(x *ragged.Tensor) error { return testkit.Err(x.TakeRows(0, 3)) }, shapeops.ErrIndex},
		{"a level that is not there", func(x *ragged.Tensor) error { return testkit.Err(x.IndexLevel(2, ix.Range(0, 1))) }, shapeops.ErrDim},
		{"level 0", func(x *ragged.Tensor) error { return testkit.Err(x.FlattenLevel(0)) }, shapeops.ErrDim},
		{"no step", func(x *ragged.Tensor) error { return testkit.Err(x.IndexLevel(1, ix.Range(0, 1).Step(0))) }, shapeops.ErrIndex},
		{"a position that a row has not", func(x *ragged.Tensor) error { return testkit.Err(x.IndexLevel(1, ix.At(0))) }, shapeops.ErrIndex},
		{"a window of negative size", func(x *ragged.Tensor) error { return testkit.Err(x.WindowLevel(1, tensor.Vector[int64](0, 0, 0), -1)) }, shapeops.ErrShape},
		{"too few starts", func(x *ragged.Tensor) error { return testkit.Err(x.WindowLevel(1, tensor.Vector[int64](0, 0), 1)) }, shapeops.ErrShape},
		{"starts that are not integers", func(x *ragged.Tensor) error { return testkit.Err(x.WindowLevel(1, tensor.Vector(0.5, 0, 0), 1)) }, tensor.ErrDType},
		{"an index of other rows", func(x *ragged.Tensor) error { return testkit.Err(x.Pick(row(0))) }, ragged.ErrLengths},
		{"an index with features", func(x *ragged.Tensor) error { return testkit.Err(x.Pick(pairs(x))) }, shapeops.ErrShape},
		{"a position that is not there", func(x *ragged.Tensor) error { return testkit.Err(x.Pick(x)) }, shapeops.ErrIndex},
		{"a mask of numbers", func(x *ragged.Tensor) error { return testkit.Err(x.MaskedSelect(x)) }, tensor.ErrDType},
		{"a mask of other lengths", func(x *ragged.Tensor) error {
			return testkit.Err(x.MaskedSelect(bits([]bool{true, true}, []bool{true}, nil)))
		}, ragged.ErrLengths},
		{"a mask that is deeper", func(x *ragged.Tensor) error {
			return testkit.Err(x.MaskedSelect(tensor.Must(ragged.From[bool]([][][]bool{{{true}, {}}, {}, {{}}}))))
		}, shapeops.ErrDim},
		{"lengths that do not add up", func(x *ragged.Tensor) error { return testkit.Err(x.UnflattenLevel(x)) }, ragged.ErrLengths},
		{"lengths with features", func(x *ragged.Tensor) error { return testkit.Err(x.UnflattenLevel(pairs(x))) }, shapeops.ErrShape},
		{"lengths of the batch", func(x *ragged.Tensor) error { return testkit.Err(x.UnflattenLevel(tensor.Must(x.Counts(1)))) }, shapeops.ErrDim},
		{"groups that do not add up", func(x *ragged.Tensor) error { return testkit.Err(x.Group(1, 1)) }, ragged.ErrLengths},
		{"a negative group", func(x *ragged.Tensor) error { return testkit.Err(x.Group(4, -1)) }, ragged.ErrLengths},
		{"other lengths for rows of a view", func(x *ragged.Tensor) error {
			return tensor.Must(x.Range(0, 2)).SetIndex(row(9, 9, 9, 9, 9, 9, 9), ix.Range(0, 1))
		}, ragged.ErrLengths},
		{"a verb that keeps values", func(x *ragged.Tensor) error {
			even := tensor.Must(ragged.From[int64]([][]int64{{3, 9}, {}, {7}}))
			return testkit.Err(even.Reduce(1, arith.CumSum))
		}, shapeops.ErrShape},
		{"more widths than levels", func(x *ragged.Tensor) error {
			return testkit.Err(x.Densify(ragged.DensifyOptions{Widths: []int{1, 2}}))
		}, shapeops.ErrShape},
		{"masks of a tensor by Densify", func(x *ragged.Tensor) error {
			return testkit.Err(x.Densify(ragged.DensifyOptions{Masks: "masks"}))
		}, shapeops.ErrKind},
		{"concatenating nothing", func(*ragged.Tensor) error { return testkit.Err(ragged.ConcatLevel(nil, 1)) }, shapeops.ErrShape},
		{"concatenating other rows", func(x *ragged.Tensor) error { return testkit.Err(ragged.ConcatLevel(list{x, row(1)}, 1)) }, ragged.ErrLengths},
		{"concatenating other depths", func(x *ragged.Tensor) error { return testkit.Err(ragged.ConcatLevel(list{x, twoDeep()}, 1)) }, ragged.ErrLengths},
		{"stacking a zero Tensor", func(x *ragged.Tensor) error { return testkit.Err(shapeops.Cat(list{x, zero}, 0)) }, shapeops.ErrShape},
		{"stacking other depths", func(x *ragged.Tensor) error { return testkit.Err(shapeops.Stack(list{x, twoDeep()}, 0)) }, ragged.ErrLengths},
		{"stacking other features", func(x *ragged.Tensor) error { return testkit.Err(shapeops.Stack(list{x, pairs(x)}, 0)) }, shapeops.ErrShape},
		{"making rows of nothing", func(*ragged.Tensor) error { return testkit.Err(ragged.Vstack(nil)) }, shapeops.ErrShape},
		{"setting to what does not fit", func(x *ragged.Tensor) error { return x.SetIndex(x, ix.Take(0, 1)) }, shapeops.ErrShape},
		{"setting to other depths", func(x *ragged.Tensor) error { return x.SetIndex(twoDeep(), ix.All) }, ragged.ErrLengths},
		{"setting to another dtype", func(x *ragged.Tensor) error { return x.SetIndex(bits(nil), ix.All) }, tensor.ErrDType},
		{"setting rows that are not there", func(x *ragged.Tensor) error { return x.SetIndex(row(1), ix.At(5)) }, shapeops.ErrIndex},
		{"indexing into another shape", func(x *ragged.Tensor) error { return x.IndexInto(row(1), ix.All) }, shapeops.ErrShape},
		{"a verb that makes nothing", func(x *ragged.Tensor) error {
			return testkit.Err(x.Reduce(1, func(*tensor.Tensor, arith.Over) (*tensor.Tensor, error) { return nil, nil }))
		}, shapeops.ErrKind},
		{"a verb that makes too much", func(x *ragged.Tensor) error {
			return testkit.Err(x.Reduce(1, func(v *tensor.Tensor, _ arith.Over) (*tensor.Tensor, error) { return v.Index(ix.Take(0, 0)) }))
		}, shapeops.ErrShape},
		{"reducing the batch", func(x *ragged.Tensor) error { return testkit.Err(x.Reduce(0, arith.Sum[*tensor.Tensor])) }, shapeops.ErrDim},
		{"reducing a level that is not there", func(x *ragged.Tensor) error { return testkit.Err(x.Reduce(2, arith.Sum[*tensor.Tensor])) }, shapeops.ErrDim},
		{"running sums of the batch", func(x *ragged.Tensor) error { return testkit.Err(x.CumSum(0)) }, shapeops.ErrDim},
		{"running sums of a level that is not there", func(x *ragged.Tensor) error { return testkit.Err(x.CumSum(-2)) }, shapeops.ErrDim},
		{"the least of an empty row", func(x *ragged.Tensor) error { return testkit.Err(x.Reduce(1, arith.Min[*tensor.Tensor])) }, arith.ErrEmpty},
		{"broadcasting to other rows", func(x *ragged.Tensor) error { return testkit.Err(x.Broadcast(row(1, 2).Layout())) }, ragged.ErrLengths},
		{"broadcasting to fewer levels", func(x *ragged.Tensor) error { return testkit.Err(x.Broadcast(x.Layout().Outer())) }, shapeops.ErrDim},
		{"mapping to nil", func(x *ragged.Tensor) error {
			return testkit.Err(x.MapValues(func(*tensor.Tensor) (*tensor.Tensor, error) { return nil, nil }))
		}, shapeops.ErrKind},
		{"sorting values with features", func(x *ragged.Tensor) error { return testkit.Err(pairs(x).Sort(arith.SortOptions{})) }, shapeops.ErrShape},
		{"padding with what the dtype does not hold", func(x *ragged.Tensor) error {
			return testkit.Err(x.Densify(ragged.DensifyOptions{Fill: 0.5}))
		}, tensor.ErrDType},
		{"padding to a negative width", func(x *ragged.Tensor) error {
			return testkit.Err(x.Densify(ragged.DensifyOptions{Widths: []int{-1}}))
		}, shapeops.ErrShape},
		{"padding to what cannot be counted", func(x *ragged.Tensor) error {
			return testkit.Err(x.Densify(ragged.DensifyOptions{Widths: []int{math.MaxInt}}))
		}, shapeops.ErrShape},
		{"padding rows that are not there", func(x *ragged.Tensor) error {
			return testkit.Err(x.Densify(ragged.DensifyOptions{Rows: []int{3}}))
		}, shapeops.ErrIndex},
	})
}

// What a zero Tensor is asked for is an error too.
func TestZeroTensor(t *testing.T) {
	for name, err := range map[string]error{
		"index":     testkit.Err(new(ragged.Tensor).Index(ix.At(0))),
		"take":      testkit.Err(new(ragged.Tensor).TakeRows(0)),
		"set index": new(ragged.Tensor).SetIndex(oneDeep(), ix.At(0)),
		"into":      oneDeep().IndexInto(new(ragged.Tensor), ix.All),
		"path":      testkit.Err(new(ragged.Tensor).Path()),
		"clone":     testkit.Err(new(ragged.Tensor).Clone()),
	} {
		require.ErrorIs(t, err, shapeops.ErrKind, name)
	}
	require.Zero(t, new(ragged.Tensor).DType())
	require.Empty(t, new(ragged.Tensor).Shape())
}

// An error of an operation is returned as it is.
func TestErrorOfAFunction(t *testing.T) {
	broken := errors.New("broken")
	fails := func(*tensor.Tensor, arith.Over) (*tensor.Tensor, error) { return nil, broken }
	require.ErrorIs(t, testkit.Err(oneDeep().Reduce(1, fails)), broken)
	require.ErrorIs(t, testkit.Err(oneDeep().MapValues(func(*tensor.Tensor) (*tensor.Tensor, error) { return nil, broken })), broken)
}
