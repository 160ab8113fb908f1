package ragged_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// What has been wrong once.

// The error of a function that reduces stays whole, also if it is about a key.
func TestReduceKeepsTheError(t *testing.T) {
	_, own := tdict.New().Get("weights")
	_, err := oneDeep().Reduce(-1, func(*tensor.Tensor, arith.Over) (*tensor.Tensor, error) { return nil, own })
	require.ErrorIs(t, err, own)
	require.EqualError(t, err, `reduce: level 1: get "weights": missing key: the dictionary is empty`)
}

func TestLargeStep(t *testing.T) {
	for _, step := range []int{3, math.MaxInt - 1, math.MaxInt} {
		y, err := oneDeep().IndexLevel(1, ix.Range(1, ix.End).Step(step))
		require.NoError(t, err)
		require.Equal(t, "[3] 1 [[[2]] [] []]", modelOf(t, y).String())
	}
}

// Rows that lie in rows have other scalars each, which stacking makes values of.
func TestScalarsStack(t *testing.T) {
	j, err := jointOf(inB)
	require.NoError(t, err)
	var parts []*joint.Joint
	for _, at := range [][2]int{{2, 1}, {0, 1}} {
		x, err := j.Index(ix.At(at[0]), ix.At(at[1]))
		require.NoError(t, err)
		parts = append(parts, x)
	}
	all, err := joint.Vstack(parts)
	require.NoError(t, err)
	require.Equal(t, "s@0[9 7] ts@0[5 2] v@1[3 0] b1[0 2]", storage(t, all))
	dense, err := joint.Collate(parts, ragged.DensifyOptions{})
	require.NoError(t, err)
	require.Equal(t, "s[2] [9 7]\nts[2] [5 2]\nv[2 2] [[0 0] [3 0]]", padded(t, dense))
}

// A scalar of a whole collection becomes a value of each row that is stacked, whatever kind of part
// the row is.
func TestScalarOfACollectionStacks(t *testing.T) {
	scalar := tensor.Must(oneDeep().Path(ix.At(0), ix.At(0)))
	j, err := joint.New(joint.Field{Name: "s", Tensor: scalar}, joint.Field{Name: "x", Tensor: oneDeep()})
	require.NoError(t, err)
	row := tensor.Must(j.Row(0))
	part := tensor.Must(row.Range(0, 1))
	for _, parts := range [][]*joint.Joint{{row, row}, {part, part}, {row, part}} {
		all, err := joint.Vstack(parts)
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
	j, err := joint.New(
		joint.Field{Name: "age", Tensor: tensor.Must(ragged.From[uint8]([]uint8{70, 80, 90}))},
		joint.Field{Name: "day", Tensor: oneDeep()},
		joint.Field{Name: "code", Tensor: codesOfVisits()},
		joint.Field{Name: "lab", Tensor: labs, Tree: "labs"},
	)
	require.NoError(t, err)
	requireShared(t, j)

	cut, err := j.InTree("labs").IndexLevel(1, ix.Range(-1, ix.End))
	require.NoError(t, err)
	requireShared(t, cut)
	require.Equal(t, []float64{0.25, 3, 4}, numbersOf(t, tensor.Must(tensor.Must(cut.Tensor("lab")).Values())))
	require.Equal(t, modelOf(t, tensor.Must(j.Tensor("code"))), modelOf(t, tensor.Must(cut.Tensor("code"))))

	_, err = j.FlattenLevel(1, joint.Drop)
	require.ErrorIs(t, err, shapeops.ErrDim, "the other tree has rows of its own")
	flat, err := j.FlattenLevel(2, joint.Repeat)
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
	d, err := row.Densify(ragged.DensifyOptions{Masks: "masks"})
	require.NoError(t, err)
	require.Equal(t, "age[] 90\ncode[1 2] [[4 5]] mask [[1 1]]\nday[1] [3] mask [1]\nlab[1] [4] mask [1]", padded(t, d))
}

// codesOfVisits returns [3 * *] with the lengths of oneDeep.
func codesOfVisits() *ragged.Tensor {
	return tensor.Must(ragged.From[int64]([][][]int64{{{1}, {2, 3}}, {}, {{4, 5}}}))
}

// Rows may be slices of several types, but of one depth.
func TestListsOfSeveralTypes(t *testing.T) {
	x, err := inferred([]any{[]int{1, 2}, []uint8{}, []any{-3}, [][]int{{1}}})
	require.ErrorIs(t, err, ragged.ErrLengths)
	require.Nil(t, x)
	x, err = inferred([]any{[]int{1, 2}, []uint8{}, []any{-3}})
	require.NoError(t, err)
	require.Equal(t, tensor.Int8, x.DType())
	require.True(t, slices.Equal([]int64{2, 0, 1}, tensor.Must(x.Layout().Lengths(1))))
}

// expanded returns rows of the batch repeated as a shape says.
func expanded(x *ragged.Tensor, sizes ...int) *ragged.Tensor {
	p := tensor.Must(plan.Expand(x.Shape(), sizes...))
	return tensor.Must(x.Ops().Execute(plan.NewPass(p)))
}

// Counting the values of rows that an expansion repeats lists none of them.
func TestCountingRepeatedRows(t *testing.T) {
	deep := tensor.Must(ragged.LayoutOf(shapeops.Shape{3, 1}, []int64{2, 0, 1}, []int64{3, 0, 4}))
	x := tensor.Must(ragged.New(tensor.Must(tensor.Zeros[int32](7, 2)), deep))
	flat := tensor.Must(ragged.New(tensor.Must(tensor.Zeros[int32](1, 2)), tensor.Must(ragged.NewLayout(shapeops.Shape{1}))))
	long := tensor.Must(ragged.LayoutOf(shapeops.Shape{1}, []int64{1 << 40}))
	meta := tensor.Must(ragged.New(tensor.Must(tensor.NewMeta(tensor.Int32, 1<<40, 2)), long))
	index := func(expr ...ix.Index) *ragged.Tensor { return tensor.Must(x.Index(expr...)) }
	tests := []struct {
		name          string
		of            *ragged.Tensor
		values, bytes int
	}{
		{"rows that follow one another", x, 7, 56},
		{"rows with a step", index(ix.Range(0, 3).Step(2)), 7, 56},
		{"rows in another order", index(ix.Take(2, 1, 2)), 8, 64},
		{"a column repeated", expanded(x, 3, 1<<20), 7 << 20, 56 << 20},
		{"one row repeated", expanded(index(ix.At(2)), 1<<30), 4 << 30, 32 << 30},
		{"an empty row repeated", expanded(index(ix.At(1)), 1<<30), 0, 0},
		{"repeated no times", expanded(x, 0, 3, 1), 0, 0},
		{"a dim before and one within", expanded(x, 1<<10, 3, 1<<10), 7 << 20, 56 << 20},
		{"values without levels", expanded(flat, 1<<30), 1 << 30, 8 << 30},
		{"bytes beyond an int", expanded(meta, 1<<21), 1 << 61, math.MaxInt},
		{"values beyond an int", expanded(meta, 1<<24), math.MaxInt, math.MaxInt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.MaxBytes(t, 1<<12, func() {
				require.Equal(t, tt.values, tt.of.NumValues())
				require.Equal(t, tt.bytes, tt.of.ByteSize())
			})
		})
	}
}

// The text of a row costs what it shows, however many rows and levels there are.
func TestTextsGrowth(t *testing.T) {
	for depth := 1; depth <= 4; depth++ {
		t.Run(fmt.Sprint("depth ", depth), func(t *testing.T) {
			texts := func(rows int) func() {
				x := tensor.Must(grown(rows, 2, depth, 1).Tensor("f0"))
				return func() { require.Len(t, tensor.Must(x.Ops().Texts()), rows) }
			}
			testkit.Near(t, 20, texts(100), texts(1_000))
			testkit.Near(t, 200, texts(100), texts(10_000))
		})
	}
}
