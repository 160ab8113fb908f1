package ragged_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// What has been wrong once.

func TestLargeStep(t *testing.T) {
	for _, step := range []int{3, math.MaxInt - 1, math.MaxInt} {
		y, err := oneDeep().CutStep(1, 1, ix.End, step)
		require.NoError(t, err)
		require.Equal(t, "[3] 1 [[[2]] [] []]", modelOf(t, y).String())
	}
}

// Rows that lie in rows have other scalars each, which stacking makes values of.
func TestScalarsStack(t *testing.T) {
	j, err := jointOf(inB)
	require.NoError(t, err)
	var parts []*ragged.Joint
	for _, at := range [][2]int{{2, 1}, {0, 1}} {
		x, err := j.Path(ix.At(at[0]), ix.At(at[1]))
		require.NoError(t, err)
		parts = append(parts, x)
	}
	all, err := ragged.VstackJoints(parts, ragged.JoinOptions{})
	require.NoError(t, err)
	require.Equal(t, "s@0[9 7] ts@0[5 2] v@1[3 0] b1[0 2]", storage(t, all))
	dense, err := ragged.Collate(parts, ragged.DensifyOptions{})
	require.NoError(t, err)
	require.Equal(t, "s[2] [9 7]\nts[2] [5 2]\nv[2 2] [[0 0] [3 0]]", padded(t, dense))
}

// A scalar of a whole collection becomes a value of each row that is stacked, whatever kind of part
// the row is.
func TestScalarOfACollectionStacks(t *testing.T) {
	scalar := tensor.Must(oneDeep().Path(ix.At(0), ix.At(0)))
	j, err := ragged.NewJoint(ragged.Field{Name: "s", Tensor: scalar}, ragged.Field{Name: "x", Tensor: oneDeep()})
	require.NoError(t, err)
	row := tensor.Must(j.Row(0))
	part := tensor.Must(row.Range(0, 1))
	for _, parts := range [][]*ragged.Joint{{row, row}, {part, part}, {row, part}} {
		all, err := ragged.VstackJoints(parts, ragged.JoinOptions{})
		require.NoError(t, err)
		require.Equal(t, 0, tensor.Must(all.Tensor("s")).Depth())
		require.Equal(t, []float64{1, 1}, numbersOf(t, tensor.Must(tensor.Must(all.Tensor("s")).Values())))
	}
}

// What Broadcast returns is a copy, also when nothing is repeated.
func TestBroadcastCopies(t *testing.T) {
	x := oneDeep()
	y, err := x.Broadcast(x.Layout())
	require.NoError(t, err)
	require.False(t, tensor.Must(x.Values()).SharesMemory(tensor.Must(y.Values())))
}

// A negative level counts from the last for NumRows too.
func TestNegativeNumRows(t *testing.T) {
	l := twoDeep().Layout()
	for level, want := range map[int]int{0: 3, 1: 3, 2: 3, -1: 3, -2: 3, -3: 3} {
		n, err := l.NumRows(level)
		require.NoError(t, err)
		require.Equal(t, want, n, level)
	}
	n, err := oneDeep().Layout().Outer().NumRows(-1)
	require.NoError(t, err)
	require.Equal(t, 3, n, "the batch is the last")
}

// Trees are independent of one another below level 0, and each is edited alone.
func TestTrees(t *testing.T) {
	labs := tensor.Must(ragged.From[float32]([][]float32{{0.5, 0.25}, {1, 2, 3}, {4}}))
	j, err := ragged.NewJoint(
		ragged.Field{Name: "age", Tensor: tensor.Must(ragged.From[uint8]([]uint8{70, 80, 90}))},
		ragged.Field{Name: "day", Tensor: oneDeep()},
		ragged.Field{Name: "code", Tensor: codesOfVisits()},
		ragged.Field{Name: "lab", Tensor: labs, Tree: "labs"},
	)
	require.NoError(t, err)
	requireShared(t, j)

	cut, err := j.InTree("labs").Cut(1, -1, ix.End)
	require.NoError(t, err)
	requireShared(t, cut)
	require.Equal(t, []float64{0.25, 3, 4}, numbersOf(t, tensor.Must(tensor.Must(cut.Tensor("lab")).Values())))
	require.Equal(t, modelOf(t, tensor.Must(j.Tensor("code"))), modelOf(t, tensor.Must(cut.Tensor("code"))))

	_, err = j.Flatten(1, ragged.Drop)
	require.ErrorIs(t, err, shapeops.ErrDim, "the other tree has rows of its own")
	flat, err := j.Flatten(2, ragged.Repeat)
	require.NoError(t, err)
	require.Equal(t, 1, tensor.Must(flat.Tensor("code")).Depth())

	row, err := j.Row(2)
	require.NoError(t, err)
	_, ok := row.Len()
	require.False(t, ok)
	_, err = row.Row(0)
	require.ErrorIs(t, err, shapeops.ErrDim, "rows of two trees")
	one, err := row.Select("code", "day")
	require.NoError(t, err)
	require.Equal(t, "code@1[4 5] day@0[3] b1[2]", storage(t, one))
	d, err := row.Densify(ragged.DensifyOptions{Masks: true})
	require.NoError(t, err)
	require.Equal(t, "age[] 90\ncode[1 2] [[4 5]] mask [[1 1]]\nday[1] [3] mask [1]\nlab[1] [4] mask [1]", padded(t, d))
}

// codesOfVisits returns [3 * *] with the lengths of oneDeep.
func codesOfVisits() *ragged.Tensor {
	return tensor.Must(ragged.From[int64]([][][]int64{{{1}, {2, 3}}, {}, {{4, 5}}}))
}

// Rows may be slices of several types, but of one depth.
func TestListsOfSeveralTypes(t *testing.T) {
	x, err := ragged.FromLists([]any{[]int{1, 2}, []uint8{}, []any{-3}, [][]int{{1}}})
	require.ErrorIs(t, err, ragged.ErrLengths)
	require.Nil(t, x)
	x, err = ragged.FromLists([]any{[]int{1, 2}, []uint8{}, []any{-3}})
	require.NoError(t, err)
	require.Equal(t, tensor.Int8, x.DType())
	require.True(t, slices.Equal([]int64{2, 0, 1}, tensor.Must(x.Lengths(1))))
}
