package ragged_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Lists returns what From was given, at every depth, of parts too.
func TestListsUndoFrom(t *testing.T) {
	for _, lists := range []any{
		[]int8{4, 5},
		[][]int8{{1, 2}, {}, {3}},
		[][][]int8{{}, {{}, {1}}, {{2, 3}}},
		[][][][]int8{{{{1}, {}}, {}}, {{{2, 3}}}},
		[][]int8{},
	} {
		x := tensor.Must(ragged.From[int8](lists))
		require.Equal(t, lists, tensor.Must(ragged.Lists[int8](x)))
	}
	x := tensor.Must(ragged.From[int8]([][]int8{{1, 2}, {}, {3}}))
	last := tensor.Must(x.Index(ix.Range(1, ix.End)))
	require.Equal(t, [][]int8{{}, {3}}, tensor.Must(ragged.Lists[int8](last)))
}

func TestListsRefuse(t *testing.T) {
	x := tensor.Must(ragged.From[int8]([][]int8{{1, 2}, {}, {3}}))
	_, err := ragged.Lists[int16](x)
	require.ErrorIs(t, err, tensor.ErrDType)
	_, err = ragged.Lists[int8](tensor.Must(x.Index(ix.At(0))))
	require.ErrorIs(t, err, shapeops.ErrDim)
	_, err = ragged.Lists[int8](nil)
	require.ErrorIs(t, err, shapeops.ErrKind)
	pairs := tensor.Must(ragged.New(tensor.Must(tensor.Zeros[int8](3, 2)), x.Layout()))
	_, err = ragged.Lists[int8](pairs)
	require.ErrorIs(t, err, shapeops.ErrShape)
}

// With puts fields in the place of others, or after them; Diff says how collections differ.
func TestJointWithAndDiff(t *testing.T) {
	j := tensor.Must(nrt.FromLists(map[string]any{"a": [][]int8{{1}, {2, 3}}, "s": []int8{7, 8}}, nil))
	day := tensor.Must(ragged.From[int64]([][]int64{{5}, {6, 7}}))
	with := func(name string, x *ragged.Tensor) *joint.Joint {
		return tensor.Must(j.With(joint.Field{Name: name, Tensor: x}))
	}
	k := tensor.Must(with("day", day).With(joint.Field{Name: "s", Tensor: tensor.Must(day.IndexLevel(1, ix.At(0)))}))
	require.Equal(t, []string{"a", "s", "day"}, k.Names())
	require.Equal(t, tensor.Int64, tensor.Must(k.Tensor("s")).DType())
	_, err := j.With(joint.Field{Name: "b", Tensor: tensor.Must(day.IndexLevel(1, ix.Range(0, 1)))})
	require.ErrorIs(t, err, ragged.ErrLengths)

	require.Equal(t, "", tensor.Must(j.DiffWithin(j, tensor.Tolerance{})))
	require.Contains(t, tensor.Must(j.DiffWithin(with("s", tensor.Must(day.IndexLevel(1, ix.At(0)))), tensor.Tolerance{})), `field "s": `)
	require.Equal(t, `fields ["a" "s"], other ["a" "s" "day"]`, tensor.Must(j.DiffWithin(k, tensor.Tolerance{})))
	_, err = j.DiffWithin(nil, tensor.Tolerance{})
	require.ErrorIs(t, err, shapeops.ErrKind)
	require.False(t, j.Equal(k))
}

func ExampleLists() {
	codes := tensor.Must(ragged.From[int64]([][]int64{{3, 1, 2}, {}, {9, 8}}))
	short := tensor.Must(codes.IndexLevel(1, ix.Range(0, 2)))
	for _, row := range tensor.Must(ragged.Lists[int64](short)).([][]int64) {
		fmt.Println(row)
	}
	// Output:
	// [3 1]
	// []
	// [9 8]
}
