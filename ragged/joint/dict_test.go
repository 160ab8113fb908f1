package joint_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// surgery returns a dictionary with every kind of leaf that a collection can hold.
func surgery(t *testing.T) *tdict.TensorDict {
	visits := tensor.Must(ragged.LayoutOf([]int{3}, []int64{2, 0, 1}))
	codes := tensor.Must(visits.Nest([]int64{0, 1, 3, 3}))
	notes := tensor.Must(ragged.LayoutOf([]int{3}, []int64{1, 1, 0}))
	td := tdict.New(3)
	require.NoError(t, td.Set("age", tensor.Vector[int32](58, 56, 70)))
	require.NoError(t, td.Set("day", tensor.Must(ragged.New(tensor.Vector[int64](0, 192, 7), visits))))
	require.NoError(t, td.Set("code", tensor.Must(ragged.New(tensor.Vector[uint8](4, 5, 6), codes))))
	require.NoError(t, td.Set("note", tensor.Must(ragged.New(tensor.Vector[uint8](1, 2), notes))))
	require.NoError(t, td.Set("weights", tensor.Must(tdict.NewUnbatched(tensor.Vector[float32](1, 2)))))
	return td
}

// notes says that the notes of a surgery are of a tree of their own.
var notes = map[string]string{"note": "notes"}

// To a collection and back nothing is lost: dense leaves are of depth 0, unbatched ones scalars,
// and leaves of other lengths a tree of their own.
func TestJointAndBack(t *testing.T) {
	td := surgery(t)
	j, err := joint.FromDict(td, notes)
	require.NoError(t, err)
	require.Equal(t, []string{"age", "day", "code", "note", "weights"}, j.Names())
	for f := range j.Fields() {
		require.Equal(t, notes[f.Name], f.Tree, f.Name)
	}
	require.Empty(t, tensor.Must(j.Tensor("weights")).Shape(), "a scalar")

	back, err := j.Dict()
	require.NoError(t, err)
	text, err := td.Diff(back)
	require.NoError(t, err)
	require.Empty(t, text)
	day, code := tensor.Must(tdict.Get[*ragged.Tensor](back, "day")), tensor.Must(tdict.Get[*ragged.Tensor](back, "code"))
	require.Same(t, day.Layout(), code.Layout().Outer(), "layouts stay shared")
}

// A row of a collection is a dictionary of the rows in it, with scalars for all of them.
func TestDictOfARow(t *testing.T) {
	td, err := surgery(t).Exclude("note"), error(nil)
	require.NoError(t, err)
	one, err := tensor.Must(joint.FromDict(td, nil)).Row(0)
	require.NoError(t, err)
	got, err := one.Dict()
	require.NoError(t, err)
	require.Equal(t, shapeops.Shape{2}, got.Shape())
	age := tensor.Must(tdict.Get[*tdict.Unbatched](got, "age"))
	require.Equal(t, int32(58), tensor.Must(tensor.Item[int32](age.Tensor())))
	require.True(t, tensor.Must(got.Tensor("day")).Equal(tensor.Vector[int64](0, 192)))
}

func TestJointRefuses(t *testing.T) {
	tests := []struct {
		name string
		set  func(td *tdict.TensorDict) *tdict.TensorDict
		want error
	}{
		{"two dims of batch", func(*tdict.TensorDict) *tdict.TensorDict { return tdict.New(2, 3) }, shapeops.ErrDim},
		{"data", func(td *tdict.TensorDict) *tdict.TensorDict {
			require.NoError(t, td.Set("name", tensor.Must(tdict.NewData("x"))))
			return td
		}, tdict.ErrKind},
		{"nested", func(td *tdict.TensorDict) *tdict.TensorDict {
			require.NoError(t, td.Set("a/b", tensor.Vector[int8](1, 2, 3)))
			return td
		}, tdict.ErrKind},
		{"a reserved name", func(td *tdict.TensorDict) *tdict.TensorDict {
			require.NoError(t, td.Set("bounds", tensor.Vector[int8](1, 2, 3)))
			return td
		}, joint.ErrName},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := joint.FromDict(tt.set(surgery(t)), notes)
			require.ErrorIs(t, err, tt.want)
		})
	}
	_, err := joint.FromDict(surgery(t), nil)
	require.ErrorIs(t, err, ragged.ErrLengths, "notes have other lengths than visits")
	_, err = joint.FromDict(surgery(t), map[string]string{"nobody": "x"})
	require.ErrorIs(t, err, tdict.ErrMissing)
	row := tensor.Must(tensor.Must(joint.FromDict(surgery(t), notes)).Row(0))
	_, err = row.Dict()
	require.ErrorIs(t, err, shapeops.ErrDim, "one row of two trees")
	flat := tensor.Must(joint.New(
		joint.Field{Name: "a", Tensor: tensor.Must(ragged.From[int8]([][]int8{{1, 2}, {3}}))},
		joint.Field{Name: "b", Tensor: tensor.Must(ragged.From[int8]([][]int8{{4}, {5}})), Tree: "x"}))
	_, err = tensor.Must(flat.Row(0)).Dict()
	require.ErrorIs(t, err, shapeops.ErrDim, "one row of two trees of one level")
}

func ExampleFromDict() {
	visits, _ := ragged.LayoutOf([]int{2}, []int64{2, 1})
	td := tdict.New(2)
	_ = td.Set("age", tensor.Vector[int32](58, 56))
	_ = td.Set("day", tensor.Must(ragged.New(tensor.Vector[int32](0, 192, 7), visits)))

	j := tensor.Must(joint.FromDict(td, nil))
	batch := tensor.Must(j.Densify(ragged.DensifyOptions{Left: true, Fill: -1}))
	for name, x := range batch.Tensors() {
		fmt.Println(name, x)
	}
	// Output:
	// age int32 [2]
	// [58 56]
	// day int32 [2 2]
	// [[  0 192]
	//  [ -1   7]]
}
