package ragged_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// ward returns patients with an age, days of visits and codes of these.
func ward(t *testing.T) *joint.Joint {
	t.Helper()
	return tensor.Must(nrt.FromLists(map[string]any{
		"age":  []uint8{58, 56},
		"day":  [][]int32{{0, 7, 9}, {3}},
		"code": [][][]int64{{{1, 2}, {}, {3}}, {{4, 5, 6}}},
	}, nil))
}

func lists[T tensor.Elem](t *testing.T, j *joint.Joint, name string) any {
	t.Helper()
	return tensor.Must(ragged.Lists[T](tensor.Must(j.Tensor(name))))
}

// What goes into rows goes into those of all fields that are so deep.
func TestJointLevels(t *testing.T) {
	j := ward(t)
	odd := tensor.Must(j.IndexLevel(1, ix.Range(0, ix.End).Step(2)))
	require.Equal(t, [][]int32{{0, 9}, {3}}, lists[int32](t, odd, "day"))
	require.Equal(t, [][][]int64{{{1, 2}, {3}}, {{4, 5, 6}}}, lists[int64](t, odd, "code"))

	last := tensor.Must(j.IndexLevel(1, ix.At(-1)))
	require.Equal(t, []int32{9, 3}, lists[int32](t, last, "day"))
	require.Equal(t, [][]int64{{3}, {4, 5, 6}}, lists[int64](t, last, "code"))
	require.Equal(t, []uint8{58, 56}, lists[uint8](t, last, "age"))

	mixed := tensor.Must(j.Pick(tensor.Must(ragged.From[int8]([][]int8{{2, 0, 1}, {0}}))))
	days := lists[int32](t, mixed, "day").([][]int32)
	codes := lists[int64](t, mixed, "code").([][][]int64)
	of := map[int32][]int64{0: {1, 2}, 7: {}, 9: {3}, 3: {4, 5, 6}}
	for i, row := range days {
		for k, day := range row {
			require.Equal(t, of[day], codes[i][k], "codes stay with their visits")
		}
	}
	require.Equal(t, []int32{9, 0, 7}, days[0])
	_, err := j.IndexLevel(1, ix.Range(0, ix.End).Step(0))
	require.ErrorIs(t, err, shapeops.ErrIndex)
}

// Map is how what tensors can do is done to a collection; layouts are shared again.
func TestJointMap(t *testing.T) {
	j := ward(t)
	sums := tensor.Must(j.Map(func(f joint.Field) (*ragged.Tensor, error) {
		switch {
		case f.Name == "age":
			return nil, nil
		case f.Tensor.Depth() < 2:
			return f.Tensor, nil
		}
		return f.Tensor.Reduce(2, arith.Sum)
	}))
	require.Equal(t, []string{"code", "day"}, sums.Names())
	require.Equal(t, [][]int64{{3, 0, 3}, {15}}, lists[int64](t, sums, "code"))
	_, err := j.Map(nil)
	require.ErrorIs(t, err, shapeops.ErrKind)
	_, err = j.Map(func(f joint.Field) (*ragged.Tensor, error) { return f.Tensor.Row(9) })
	require.ErrorContains(t, err, `field "age": `)
}

// At level 1, rows of the same patients come after one another; what is less deep must be equal.
func TestConcatJointsAtALevel(t *testing.T) {
	j := ward(t)
	later := tensor.Must(nrt.FromLists(map[string]any{
		"age": []uint8{58, 56}, "day": [][]int32{{}, {8, 9}}, "code": [][][]int64{{}, {{}, {7}}},
	}, nil))
	both := tensor.Must(joint.Concat([]*joint.Joint{j, later}, 1))
	require.Equal(t, []uint8{58, 56}, lists[uint8](t, both, "age"))
	require.Equal(t, [][]int32{{0, 7, 9}, {3, 8, 9}}, lists[int32](t, both, "day"))
	require.Equal(t, [][][]int64{{{1, 2}, {}, {3}}, {{4, 5, 6}, {}, {7}}}, lists[int64](t, both, "code"))

	older := tensor.Must(later.With(joint.Field{Name: "age", Tensor: tensor.Must(ragged.From[uint8]([]uint8{59, 57}))}))
	_, err := joint.Concat([]*joint.Joint{j, older}, 1)
	require.ErrorIs(t, err, joint.ErrDiffers)
	for name, tt := range map[string]struct {
		age  *ragged.Tensor
		want error
	}{
		"another dtype": {tensor.Must(ragged.From[int8]([]int8{58, 56})), tensor.ErrDType},
		"another depth": {tensor.Must(ragged.From[uint8]([][]uint8{{}, {8, 9}})), ragged.ErrLengths},
	} {
		other := tensor.Must(later.With(joint.Field{Name: "age", Tensor: tt.age}))
		_, err := joint.Concat([]*joint.Joint{j, other}, 1)
		require.ErrorIs(t, err, tt.want, name)
	}
	_, err = joint.Concat([]*joint.Joint{j, later}, 2)
	require.ErrorIs(t, err, ragged.ErrLengths, "there are other visits")
	_, err = joint.Concat([]*joint.Joint{j, later}, -1)
	require.ErrorIs(t, err, shapeops.ErrDim)
}

// The zero Joint has no field and no rows, as the collection of no fields.
func TestZeroJoint(t *testing.T) {
	for _, j := range []*joint.Joint{{}, tensor.Must(joint.New())} {
		require.Empty(t, j.Names())
		_, ok := j.Len()
		require.False(t, ok)
		require.Equal(t, "joint {}", j.String())
		require.True(t, j.Equal(&joint.Joint{}))
		require.False(t, ward(t).Equal(j))
		require.Empty(t, slices.Collect(j.Fields()))
	}
}

// A scalar and a value for each row are not joined, in no order.
func TestConcatOfAScalarAndRows(t *testing.T) {
	rows := tensor.Must(nrt.FromLists(map[string]any{"s": []int64{0, 0}, "a": [][]int64{{1}, {1}}}, nil))
	single := tensor.Must(nrt.FromLists(map[string]any{"s": int64(9), "a": [][]int64{{1}}},
		tdict.Schema{{Key: "s", Kind: tdict.KindUnbatched, DType: tensor.Int64}, {Key: "a", Kind: tdict.KindRagged, Depth: 1}}))
	for _, js := range [][]*joint.Joint{{rows, single}, {single, rows}} {
		_, err := joint.Concat(js, 0)
		require.ErrorIs(t, err, ragged.ErrLengths)
	}
	_, err := joint.Concat([]*joint.Joint{rows, rows}, 2)
	require.ErrorIs(t, err, shapeops.ErrDim, "no field is so deep")
}

// The rows of several trees in one row are not those of one collection, though there be as many.
func TestRowOfSeveralTrees(t *testing.T) {
	of := func(name, tree string, lists any) joint.Field {
		return joint.Field{Name: name, Tensor: tensor.Must(ragged.From[int8](lists)), Tree: tree}
	}
	j := tensor.Must(joint.New(of("a", "", [][]int8{{1, 2}, {3}}), of("b", "x", [][]int8{{4, 5}, {6, 7}})))
	for i := range 2 {
		one := tensor.Must(j.Row(i))
		_, err := one.Select("a", "b")
		require.ErrorIs(t, err, shapeops.ErrDim)
		_, err = one.Map(func(f joint.Field) (*ragged.Tensor, error) { return f.Tensor, nil })
		require.ErrorIs(t, err, shapeops.ErrDim)
		require.NoError(t, func() error { _, err := one.Select("b"); return err }())
	}
	row := tensor.Must(tensor.Must(unsqueezed(j)).Row(0))
	back := tensor.Must(joint.New(slices.Collect(row.Fields())...))
	require.Equal(t, "", tensor.Must(j.DiffWithin(back, tensor.Tolerance{})))
	n, ok := back.Len()
	require.True(t, ok)
	require.Equal(t, 2, n)
}

// Levels are those of the tree that has some, if others have only a value for each row.
func TestTreeThatHasLevels(t *testing.T) {
	j := tensor.Must(joint.New(
		joint.Field{Name: "age", Tensor: tensor.Must(ragged.From[int8]([]int8{5, 6}))},
		joint.Field{Name: "day", Tensor: tensor.Must(ragged.From[int8]([][]int8{{1, 2}, {3}})), Tree: "visits"}))
	cut := tensor.Must(j.IndexLevel(1, ix.Range(0, 1)))
	require.Equal(t, [][]int8{{1}, {3}}, lists[int8](t, cut, "day"))
	require.Equal(t, []int8{5, 6}, lists[int8](t, cut, "age"))
}
