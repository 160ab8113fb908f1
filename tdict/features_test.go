package tdict_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// The tests here show how to do what Python's tensordict has a name for and Go does with others;
// docs/features.md refers to them.

// everything is a mask of all rows, whatever the batch shape.
var everything = tensor.Scalar(true)

func shapeOf(td *tdict.TensorDict, key nestedkey.Key) string {
	x := tensor.Must(td.Tensor(key))
	return x.DType().String() + " " + x.Shape().String()
}

// Python: empty, with and without recurse.
func TestFeatureEmpty(t *testing.T) {
	td := sample()
	require.Equal(t, shapeops.Shape{3}, tdict.New(td.Shape()...).Shape())
	skeleton := td.Exclude(testkit.Keys(td.Leaves())...)
	require.Equal(t, []nestedkey.Key{"b"}, keys(skeleton))
	require.Equal(t, shapeops.Shape{3, 4}, tensor.Must(skeleton.Dict("b")).Shape())
	require.True(t, skeleton.IsEmpty())
}

// Python: items, values, non_tensor_items and is_leaf callbacks, entry_class, get_item_shape.
func TestFeatureLeavesByKind(t *testing.T) {
	td := kinds()
	kind := map[nestedkey.Key]string{}
	for key, leaf := range td.Leaves() {
		switch leaf.(type) {
		case *tensor.Tensor:
			kind[key] = "tensor " + leaf.Shape().String()
		case *tdict.Data:
			kind[key] = "data " + leaf.Shape().String()
		case *tdict.Unbatched:
			kind[key] = "unbatched " + leaf.Shape().String()
		}
	}
	require.Equal(t, map[nestedkey.Key]string{"name": "data [3]", "x": "tensor [3 2]", "d/label": "data [3]", "d/y": "tensor [3]",
		"w": "unbatched [3 2]"}, kind)
	var tensors []nestedkey.Key
	for key := range td.Tensors() {
		tensors = append(tensors, key)
	}
	require.Equal(t, []nestedkey.Key{"x", "d/y"}, tensors)
}

// Python: numel, bytes, param_count, depth.
func TestFeatureCounts(t *testing.T) {
	td := sample()
	elements, size, depth := 0, 0, 0
	for key, x := range td.Tensors() {
		elements += x.Size()
		size += x.ByteSize()
		depth = max(depth, len(slices.Collect(key.Parts()))-1)
	}
	require.Equal(t, 3, td.Shape().Size())
	require.Equal(t, 12+24, elements)
	require.Equal(t, 8*elements, size)
	require.Equal(t, size, td.ByteSize())
	require.Equal(t, 1, depth)
}

// Python: set_, set_at_, get_at, fill_, zero_, all of which a locked dictionary allows.
func TestFeatureElementsOfOneLeaf(t *testing.T) {
	td := small()
	td.Lock()
	a := tensor.Must(td.Tensor("a"))
	require.NoError(t, a.CopyFrom(tensor.Vector[int64](5, 6, 7)))
	require.NoError(t, a.SetIndex(tensor.Scalar[int64](9), ix.Range(1, ix.End)))
	require.Equal(t, []int64{5, 9, 9}, values(t, td, "a"))
	require.Equal(t, int64(9), tensor.Must(tensor.Item[int64](tensor.Must(a.Index(ix.At(-1))))))
	require.ErrorIs(t, a.CopyFrom(tensor.Scalar(2.7)), tensor.ErrDType, "no silent cast")
	require.NoError(t, a.CopyFrom(tensor.Scalar[int64](4)))
	require.Equal(t, []int64{4, 4, 4}, values(t, td, "a"))

	require.NoError(t, arith.MaskedFillInto(td, td, everything, 0))
	require.Equal(t, []int64{0, 0, 0}, values(t, td, "a"))
	require.Equal(t, []int64{0, 0, 0, 0, 0, 0}, values(t, td, "d/b"))
}

// Python: _get_sub_tensordict.
func TestFeatureSub(t *testing.T) {
	td := small()
	part := tensor.Must(td.Index(ix.Range(1, 3)))
	require.NoError(t, part.SetIndex(dict([]int{2}, entry{"a", ones(2)})))
	require.Equal(t, []int64{0, 1, 1}, values(t, td, "a"), "the part is a view")
	require.NoError(t, arith.MaskedFillInto(part, part, everything, 8))
	require.Equal(t, []int64{0, 8, 8}, values(t, td, "a"))
	require.Equal(t, []int64{0, 1, 8, 8, 8, 8}, values(t, td, "d/b"))
	require.NoError(t, part.Set("new", count(2)))
	require.False(t, td.Has("new"), "its keys are its own")
}

// Python: contiguous, is_contiguous.
func TestFeatureContiguous(t *testing.T) {
	turned := tensor.Must(grid().Transpose(0, 1))
	require.False(t, tensor.Must(turned.Tensor("n/b")).View().IsContiguous())
	dense := tensor.Must(turned.Apply(func(_ nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error) { return x.Contiguous() }))
	require.True(t, tensor.Must(dense.Tensor("n/b")).View().IsContiguous())
	require.True(t, dense.Equal(turned.Copy()))
}

// Python: cat_tensors, stack_tensors.
func TestFeatureCatTensors(t *testing.T) {
	td := dict([]int{2}, entry{"x", count(2, 1)}, entry{"y", count(2, 1)}, entry{"z", count(2)})
	parts := tensor.Must(td.Separate("x", "y")) // or Select, to keep the entries
	xs := []*tensor.Tensor{tensor.Must(parts.Tensor("x")), tensor.Must(parts.Tensor("y"))}
	require.NoError(t, td.Set("xy", tensor.Must(shapeops.Cat(xs, -1))))
	require.Equal(t, []nestedkey.Key{"z", "xy"}, keys(td))
	require.Equal(t, []int64{0, 0, 1, 1}, values(t, td, "xy"))
	require.NoError(t, td.Set("pair", tensor.Must(shapeops.Stack(xs, 1))))
	require.Equal(t, "int64 [2 2 1]", shapeOf(td, "pair"))
}

// Python: cat_from_tensordict, stack_from_tensordict.
func TestFeatureCatFromDictionary(t *testing.T) {
	td := dict([]int{2}, entry{"y", ones(2)}, entry{"d/x", count(2)})
	var xs []*tensor.Tensor
	for _, x := range td.SortKeys().Tensors() {
		xs = append(xs, x)
	}
	require.Equal(t, []int64{0, 1, 1, 1}, testkit.Elements[int64](t, tensor.Must(shapeops.Cat(xs, 0))))
	require.Equal(t, []int64{0, 1, 1, 1}, testkit.Elements[int64](t, tensor.Must(shapeops.Stack(xs, 1))))
}

// Python: filter_non_tensor_data.
func TestFeatureFilterData(t *testing.T) {
	td, others := kinds(), []nestedkey.Key{}
	for key, leaf := range td.Leaves() {
		if _, ok := leaf.(*tdict.Data); ok {
			others = append(others, key)
		}
	}
	require.Equal(t, []nestedkey.Key{"x", "d", "d/y", "w"}, keys(td.Exclude(others...)))
}

// Python: to_dict, tolist.
func TestFeatureToMap(t *testing.T) {
	type nested = map[nestedkey.Key]any
	var toMap func(td *tdict.TensorDict) nested
	toMap = func(td *tdict.TensorDict) nested {
		out := nested{}
		for key, v := range td.All() {
			switch v := v.(type) {
			case *tdict.TensorDict:
				out[key] = toMap(v)
			case *tensor.Tensor:
				out[key] = testkit.Elements[int64](t, v)
			case *tdict.Data:
				out[key] = slices.Collect(v.All())
			}
		}
		return out
	}
	td := dict([]int{2}, entry{"a", count(2)}, entry{"d/s", texts("x", "y")})
	require.Equal(t, nested{"a": []int64{0, 1}, "d": nested{"s": []any{"x", "y"}}}, toMap(td))
}
