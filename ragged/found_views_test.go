package ragged_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// windows returns overlapping windows of rows of length one: as many places as there are rows.
func windows(t *testing.T) *ragged.Tensor {
	t.Helper()
	x := tensor.Must(ragged.From[int64]([][]int64{{0}, {1}, {2}, {3}, {4}, {5}}))
	p, err := plan.Unfold(x.Shape(), 0, 3, 2)
	require.NoError(t, err)
	return tensor.Must(x.Ops().Execute(plan.NewPass(p))) // [2 3 *]: 0 1 2 and 2 3 4
}

// A row that stands at two places is not written in one of them: not of windows that overlap,
// though there are no more places than rows, and not of rows that are repeated.
func TestRowsAtTwoPlacesAreNotWritten(t *testing.T) {
	x := windows(t)
	src := tensor.Must(ragged.From[int64]([][]int64{{7}, {8}, {9}}))
	require.ErrorIs(t, x.SetIndex(src, ix.At(0)), tensor.ErrLayout)
	other := tensor.Must(ragged.FromLengths(tensor.Vector[int64](1, 2, 3, 4, 5, 6), []int64{1, 1, 1, 1, 1, 1}))
	p, err := plan.Reshape(other.Shape(), 2, 3)
	require.NoError(t, err)
	full := tensor.Must(other.Ops().Execute(plan.NewPass(p)))
	require.Error(t, full.IndexInto(x, ix.All))
	require.Equal(t, []int64{0, 1, 2, 2, 3, 4}, tensor.Must(tensor.Of[int64](tensor.Must(x.Values()))))

	own := tensor.Must(x.Clone())
	require.NoError(t, own.SetIndex(src, ix.At(0)))
	require.Equal(t, []int64{7, 8, 9, 2, 3, 4}, tensor.Must(tensor.Of[int64](tensor.Must(own.Values()))))
}

// In one pass, tensors without rows have the batch shape that each is asked for.
func TestEmptyOfSeveralShapes(t *testing.T) {
	x := tensor.Must(ragged.From[int64]([][]int64{{0}, {1}}))
	var p plan.Pass
	empty := func(rows int) *ragged.Tensor { return tensor.Must(verbsOf(x).EmptyIn(&p, rows)) }
	two, five, again := empty(2), empty(5), empty(2)
	require.Equal(t, "[2] [5]", two.Shape().String()+" "+five.Shape().String())
	require.Same(t, two.Layout(), again.Layout())
}

// Masks of levels have the shape of the one before and one dim more.
func TestMasksOfOtherShapes(t *testing.T) {
	ones := func(shape ...int) *tensor.Tensor { return tensor.Must(tensor.Full(true, shape...)) }
	_, err := ragged.FromMasks(tensor.Must(tensor.Zeros[int8](3, 2, 4)), ones(2, 3), ones(3, 2, 4))
	require.ErrorIs(t, err, shapeops.ErrShape)
}

// The mask of an empty batch takes no memory, however wide it is.
func TestMasksOfNoRows(t *testing.T) {
	x := tensor.Must(ragged.FromLengths(tensor.Vector[int8](), []int64{}))
	dense, masks, err := x.DensifyMasked(ragged.DensifyOptions{Widths: []int{1 << 40}})
	require.NoError(t, err)
	require.Equal(t, "[0 1099511627776] [0 1099511627776]", dense.Shape().String()+" "+masks[0].Shape().String())
}

// What has no elements is not a destination of elements.
func TestMetaIsNotADestination(t *testing.T) {
	x := tensor.Must(ragged.From[int64]([][]int64{{0}, {1}}))
	none := tensor.Must(x.MapValues(func(v *tensor.Tensor) (*tensor.Tensor, error) { return v.ToMeta() }))
	require.ErrorIs(t, x.IndexInto(none, ix.All), tensor.ErrMeta)
}

// Sizes beyond what can be listed are refused before anything is made.
func TestSizesThatCannotBeListed(t *testing.T) {
	x := tensor.Must(ragged.From[int64]([][]int64{{0}}))
	p, err := plan.Expand(x.Shape(), 1<<45)
	require.NoError(t, err)
	_, err = x.Ops().Execute(plan.NewPass(p))
	require.ErrorIs(t, err, shapeops.ErrShape)
	_, err = ragged.NewLayout([]int{1 << 45})
	require.ErrorIs(t, err, shapeops.ErrShape)
	_, err = ragged.FromRowIDs(tensor.Vector[int8](), nil, 1<<60)
	require.ErrorIs(t, err, shapeops.ErrShape)
	_, err = x.Densify(ragged.DensifyOptions{Widths: []int{1 << 58}})
	require.ErrorIs(t, err, shapeops.ErrShape)
	wide := tensor.Must(ragged.LayoutOf([]int{1}, []int64{1 << 60}))
	_, err = wide.RowIDs(1)
	require.ErrorIs(t, err, shapeops.ErrShape)
	values := tensor.Must(tensor.Must(tensor.Zeros[int64](1)).Expand(1 << 60))
	_, err = tensor.Must(ragged.New(values, wide)).TakeRows(0)
	require.ErrorIs(t, err, shapeops.ErrShape)
}

// The zero Layout is none.
func TestZeroLayout(t *testing.T) {
	none := new(ragged.Layout)
	require.Same(t, none, none.Compact())
	require.Same(t, none, tensor.Must(none.At(0)))
	require.Equal(t, "[] 0 true", fmt.Sprint(none, none.Depth(), none.Outer() == nil))
	scalar := tensor.Must(ragged.NewLayout(nil))
	require.True(t, none.Equal(new(ragged.Layout)))
	require.False(t, none.Equal(scalar), "which has a row")
	require.False(t, scalar.Equal(none))
	require.ErrorIs(t, scalar.CheckEqual(none), ragged.ErrLengths)
}

// What is written into a view comes to the whole, though all values are the view's.
func TestWriteIntoAViewWithAllValues(t *testing.T) {
	for _, rest := range [][]int64{{}, {3}} {
		base := tensor.Must(ragged.From[int64]([][]int64{{1, 2}, {}, rest}))
		src := tensor.Must(ragged.From[int64]([][]int64{{7, 8}}))
		require.NoError(t, src.IndexInto(tensor.Must(base.Range(0, 1)), ix.All))
		require.Equal(t, []int64{7, 8}, tensor.Must(ragged.Lists[int64](base)).([][]int64)[0])
		require.NoError(t, shapeops.CatInto(tensor.Must(base.Range(0, 1)), []*ragged.Tensor{tensor.Must(src.MapValues(negated))}, 0))
		require.Equal(t, [][]int64{{-7, -8}, {}, rest}, tensor.Must(ragged.Lists[int64](base)))
	}
}

func negated(x *tensor.Tensor) (*tensor.Tensor, error) {
	return tensor.Map(x, func(v int64) int64 { return -v })
}

// Rows of what a collection gives out keep their lengths, as those of any view.
func TestFieldsAreViews(t *testing.T) {
	a := tensor.Must(ragged.From[int64]([][]int64{{1, 2}, {3}}))
	j := tensor.Must(joint.New(joint.Field{Name: "a", Tensor: a}))
	long := tensor.Must(ragged.From[int64]([][]int64{{9, 9, 9}}))
	require.ErrorIs(t, tensor.Must(tensor.Must(j.Range(0, 1)).Tensor("a")).SetIndex(long, ix.All), ragged.ErrLengths)
	require.ErrorIs(t, tensor.Must(j.Tensor("a")).SetIndex(long, ix.Range(0, 1)), ragged.ErrLengths)
	require.NoError(t, tensor.Must(tensor.Must(j.Tensor("a")).Clone()).SetIndex(long, ix.Range(0, 1)))
}

// Values that are looked at without a copy are those of the tensor itself, of all rows or some; of
// rows that do not follow one another there are none.
func TestValuesViewNeverCopies(t *testing.T) {
	x := tensor.Must(ragged.From[int64]([][]int64{{0, 1}, {}, {2}, {3, 4}}))
	for name, view := range map[string]*ragged.Tensor{"all": x, "some": tensor.Must(x.Range(2, 4))} {
		v, err := view.ValuesView()
		require.NoError(t, err, name)
		require.NoError(t, tensor.Write(v, func(s []int64) { s[len(s)-1]++ }), name)
		require.True(t, v.Equal(tensor.Must(view.Values())), name)
	}
	require.Equal(t, [][]int64{{0, 1}, {}, {2}, {3, 6}}, tensor.Must(ragged.Lists[int64](x)))
	require.ErrorIs(t, testkit.Err(windows(t).ValuesView()), tensor.ErrLayout)
	require.ErrorIs(t, testkit.Err(new(ragged.Tensor).ValuesView()), tensor.ErrKind)
}
