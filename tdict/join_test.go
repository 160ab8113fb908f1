package tdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Joining into memory that is there refuses what joining into new memory refuses, and writes
// nothing.
func TestJoinIntoRefusesWhatJoinRefuses(t *testing.T) {
	with := func(x tdict.Value) *tdict.TensorDict {
		return dict([]int{2}, entry{"a", count(2)}, entry{"x", x})
	}
	like := count(2, 2)
	others := map[string]struct {
		td  *tdict.TensorDict
		err error
	}{
		"another dtype, as wide":  {with(tensor.Must(tensor.Zeros[float64](2, 2))), tensor.ErrDType},
		"another dtype, narrower": {with(tensor.Must(tensor.Zeros[uint8](2, 2))), tensor.ErrDType},
		"another shape":           {with(count(2, 3)), shapeops.ErrShape},
		"another kind":            {with(data("s", 2)), tdict.ErrKind},
	}
	for name, other := range others {
		xs := []*tdict.TensorDict{with(like), other.td}
		joins := map[string]func(dst *tdict.TensorDict) error{
			"stack 0": func(dst *tdict.TensorDict) error { return shapeops.StackInto(dst, xs, 0) },
			"stack 1": func(dst *tdict.TensorDict) error { return shapeops.StackInto(dst, xs, 1) },
			"cat":     func(dst *tdict.TensorDict) error { return shapeops.CatInto(dst, xs, 0) },
			"pad sequence": func(dst *tdict.TensorDict) error {
				return shapeops.PadSequenceInto(dst, xs, shapeops.PadSequenceOptions{})
			},
		}
		for verb, join := range joins {
			t.Run(verb+", "+name, func(t *testing.T) {
				batch := []int{2, 2}
				if verb == "cat" {
					batch = []int{4}
				}
				dst := tensor.Must(with(like).NewZeros(batch...))
				testkit.Unchanged(t, dst, state, func() { require.ErrorIs(t, join(dst), other.err) })
			})
		}
	}
}

// A kernel whose results lack the dims of an inner dictionary makes no dictionary.
func TestLeafwiseKeepsInnerBatchShapes(t *testing.T) {
	k := adding()
	k.Check = func([]*tensor.Tensor, int) (tensor.DType, shapeops.Shape, error) {
		return tensor.Int64, shapeops.Shape{3}, nil
	}
	k.Elements = nil
	k.Whole = func(*tensor.Tensor, []*tensor.Tensor, int) error { return nil }
	inner := dict([]int{3}, entry{"n", dict([]int{3, 4}, entry{"c", count(3, 4)})})
	require.ErrorIs(t, testkit.Err(inner.Ops().Leafwise(k)), shapeops.ErrShape)
}

// A tensor under two keys changes in place once.
func TestInPlaceOfOneTensorUnderTwoKeys(t *testing.T) {
	x := tensor.Vector[int64](3, 1, 2)
	td := dict([]int{3}, entry{"a", x}, entry{"n/b", x})
	require.NoError(t, arith.SortInto(td, td, 0, arith.SortOptions{}))
	require.Equal(t, []int64{1, 2, 3}, values(t, td, "n/b"))
	require.NoError(t, arith.MaskedFillInto(td, td, tensor.Vector(true, false, false), 9))
	require.Equal(t, []int64{9, 2, 3}, values(t, td, "a"))
	require.NoError(t, shapeops.FlipInto(td, td, 0))
	require.Equal(t, []int64{3, 2, 9}, values(t, td, "a"))
}

// With names, an unnamed dictionary is set as a copy; one that has them as itself.
func TestSetInANamedDictionary(t *testing.T) {
	td, in := tdict.New(2), tdict.New(2)
	require.NoError(t, td.SetNames("batch"))
	require.NoError(t, td.Set("in", in))
	require.NoError(t, in.Set("late", count(2)))
	require.False(t, td.Has("in/late"))
	require.NoError(t, in.SetNames("batch"))
	require.NoError(t, td.Set("in", in))
	require.True(t, td.Has("in/late"))
}

// Of leaves that share memory in part the later is written last, from elements as they were before;
// an unbatched tensor that is equal need not be written.
func TestInPlaceOfLeavesThatShareMemory(t *testing.T) {
	x := tensor.Vector[int64](1, 2, 3, 4)
	td := dict([]int{3}, entry{"a", tensor.Must(x.Narrow(0, 0, 3))}, entry{"b", tensor.Must(x.Narrow(0, 1, 3))})
	require.NoError(t, shapeops.FlipInto(td, td, 0))
	require.Equal(t, []int64{4, 3, 2}, values(t, td, "b"))
	require.Equal(t, []int64{3, 4, 3}, values(t, td, "a"))

	fixed := tensor.Must(tdict.NewUnbatched(tensor.Must(tensor.Scalar[int64](1).Expand(3))))
	with := dict([]int{2}, entry{"a", count(2)}, entry{"u", fixed})
	mask := tensor.Vector(true, false)
	require.NoError(t, arith.WhereInto(with, mask, with, with))
	require.NoError(t, arith.WhereInto(tensor.Must(with.NewZeros(with.Shape()...)), mask, with, with))
}

// What no dictionary has elements for takes no time, whatever its other dims.
func TestPickFromDataWithoutElements(t *testing.T) {
	td := dict([]int{1 << 40, 0}, entry{"s", data("x", 1<<40, 0)})
	got := tensor.Must(td.Take(1, tensor.Vector[int64]()))
	require.Equal(t, shapeops.Shape{1 << 40, 0}, got.Shape().Clone())
	require.Equal(t, shapeops.Shape{0, 0}, tensor.Must(td.Index(ix.Take())).Shape().Clone())
}

// Dictionaries that Merge takes over have the names of the outer one.
func TestMergeNames(t *testing.T) {
	a, b := tdict.New(2), dict([]int{2}, entry{"n/z", count(2, 3)})
	require.NoError(t, a.SetNames("x"))
	got := tensor.Must(tdict.Merge([]*tdict.TensorDict{a, b}, tdict.MergeOptions{}))
	require.Equal(t, []string{"x"}, tensor.Must(got.Dict("n")).Names())
	clash := tdict.New(2)
	inner := tdict.New(2, 3)
	require.NoError(t, inner.SetNames("", "x"))
	require.NoError(t, clash.Set("n", inner))
	require.ErrorIs(t, testkit.Err(tdict.Merge([]*tdict.TensorDict{a, clash}, tdict.MergeOptions{})), tdict.ErrName)
}
