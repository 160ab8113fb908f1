package tdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func unbatched(x *tensor.Tensor) *tdict.Unbatched { return tensor.Must(tdict.NewUnbatched(x)) }

// Whatever is done to a batch, the very tensor passes through, and its shape follows the batch
// shape.
func TestUnbatchedPassesThrough(t *testing.T) {
	type dictionary = *tdict.TensorDict
	w := count(3, 2)
	td := dict([]int{2, 1}, entry{"w", unbatched(w)}, entry{"d/w", unbatched(w)})
	tests := []struct {
		name  string
		op    func() (dictionary, error)
		batch shapeops.Shape
	}{
		{"set", func() (dictionary, error) { return td, nil }, shapeops.Shape{2, 1}},
		{"index", func() (dictionary, error) { return td.Index(ix.At(0)) }, shapeops.Shape{1}},
		{"take", func() (dictionary, error) { return td.Index(ix.Take(1, 0, 1)) }, shapeops.Shape{3, 1}},
		{"no row", func() (dictionary, error) { return td.Index(ix.Range(0, 0)) }, shapeops.Shape{0, 1}},
		{"reshape", func() (dictionary, error) { return td.Reshape(2) }, shapeops.Shape{2}},
		{"permute", func() (dictionary, error) { return td.Permute(1, 0) }, shapeops.Shape{1, 2}},
		{"expand", func() (dictionary, error) { return td.Expand(4, 2, 5) }, shapeops.Shape{4, 2, 5}},
		{"squeeze", func() (dictionary, error) { return td.Squeeze() }, shapeops.Shape{2}},
		{"stack", func() (dictionary, error) { return shapeops.Stack([]dictionary{td, td, td}, 1) }, shapeops.Shape{2, 3, 1}},
		{"cat", func() (dictionary, error) { return shapeops.Cat([]dictionary{td, td}, 0) }, shapeops.Shape{4, 1}},
		{"copy", func() (dictionary, error) { return td.Copy(), nil }, shapeops.Shape{2, 1}},
		{"a longer batch", func() (dictionary, error) { return td.WithBatch(2, 1, 3) }, shapeops.Shape{2, 1, 3}},
		{"select", func() (dictionary, error) { return td.Select("w", "d") }, shapeops.Shape{2, 1}},
		{"apply", func() (dictionary, error) {
			return td.Apply(func(nestedkey.Key, *tensor.Tensor) (*tensor.Tensor, error) { panic("not a tensor of the batch") })
		}, shapeops.Shape{2, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.op()
			require.NoError(t, err)
			require.Equal(t, tt.batch, got.Shape().Clone())
			consistent(t, got)
			for _, key := range []nestedkey.Key{"w", "d/w"} {
				u := tensor.Must(tdict.Get[*tdict.Unbatched](got, key))
				require.Same(t, w, u.Tensor())
				require.Equal(t, append(tt.batch.Clone(), 3, 2), u.Shape().Clone())
			}
		})
	}
	pieces := tensor.Must(shapeops.Unbind(td, 0))
	require.True(t, tensor.Must(shapeops.Stack(pieces, 0)).Equal(td))
	clone := tensor.Must(tdict.Get[*tdict.Unbatched](tensor.Must(td.Clone()), "w"))
	require.False(t, clone.Tensor().SharesMemory(w))
	require.True(t, clone.Equal(tensor.Must(tdict.Get[*tdict.Unbatched](td, "w"))))
	require.Equal(t, "unbatched [2 1] of "+w.String(), clone.String())
}

// What belongs to all rows alike cannot be combined with another, and is not written to a part.
func TestUnbatchedRefuses(t *testing.T) {
	of := func(x *tensor.Tensor) *tdict.TensorDict {
		return dict([]int{2}, entry{"a", count(2)}, entry{"d/w", unbatched(x)})
	}
	w := count(3)
	stack := func(x *tensor.Tensor) func(td *tdict.TensorDict) error {
		return func(td *tdict.TensorDict) error {
			return testkit.Err(shapeops.Stack([]*tdict.TensorDict{td, of(x)}, 0))
		}
	}
	row := func(x *tensor.Tensor) *tdict.TensorDict {
		return tensor.Must(of(x).Index(ix.At(0)))
	}
	other := tensor.Vector[int64](0, 1, 3)
	alone := unbatched(w)
	refuse(t, func() *tdict.TensorDict { return of(w) }, []refusal{
		{"stack of others", stack(other), tdict.ErrDiffers},
		{"stack of other shapes", stack(count(2)), tdict.ErrDiffers},
		{"stack of other dtypes", stack(tensor.Vector[int32](0, 1, 2)), tdict.ErrDiffers},
		{"cat into another", func(td *tdict.TensorDict) error {
			dst := dict([]int{4}, entry{"a", count(4)}, entry{"d/w", unbatched(other)})
			return shapeops.CatInto(dst, []*tdict.TensorDict{td, td}, 0)
		}, tdict.ErrDiffers},
		{"set index from another", func(td *tdict.TensorDict) error { return td.SetIndex(row(other), ix.At(1)) }, tdict.ErrDiffers},
		{"index into another shape", func(td *tdict.TensorDict) error { return td.IndexInto(row(count(4)), ix.At(0)) }, shapeops.ErrShape},
		{"index into another dtype", func(td *tdict.TensorDict) error {
			return td.IndexInto(row(tensor.Vector[int32](0, 1, 2)), ix.At(0))
		}, tensor.ErrDType},
		{"a batch shape that does not fit", func(td *tdict.TensorDict) error {
			u := tensor.Must(tdict.Get[*tdict.Unbatched](td, "d/w"))
			return tdict.New(3).Set("w", u)
		}, shapeops.ErrShape},
		{"a stack that reaches into the tensor", func(*tdict.TensorDict) error {
			return testkit.Err(shapeops.Stack([]*tdict.Unbatched{alone, alone}, 0))
		}, shapeops.ErrShape},
		{"no tensor", func(*tdict.TensorDict) error { return testkit.Err(tdict.NewUnbatched(nil)) }, tdict.ErrKind},
		{"a tensor that is none", func(*tdict.TensorDict) error { return testkit.Err(tdict.NewUnbatched(&tensor.Tensor{})) }, tdict.ErrKind},
	})
}

// SetIndex passes over it, or wants the same; IndexInto copies the elements to that of the
// destination.
func TestUnbatchedIsWritten(t *testing.T) {
	w := count(3)
	td := dict([]int{2}, entry{"a", count(2)}, entry{"w", unbatched(w)})
	require.NoError(t, td.SetIndex(tensor.Scalar[int64](7), ix.At(0)), "a leaf for all leaves")
	require.Equal(t, []int64{7, 1}, values(t, td, "a"))
	require.Equal(t, []int64{0, 1, 2}, testkit.Elements[int64](t, w))
	same := dict(nil, entry{"a", tensor.Scalar[int64](8)}, entry{"w", unbatched(count(3))})
	require.NoError(t, td.SetIndex(same, ix.At(1)))
	require.Equal(t, []int64{7, 8}, values(t, td, "a"))

	mine := tensor.Vector[int64](9, 9, 9)
	dst := dict(nil, entry{"a", tensor.Scalar[int64](0)}, entry{"w", unbatched(mine)})
	require.NoError(t, td.IndexInto(dst, ix.At(0)))
	require.Equal(t, []int64{0, 1, 2}, testkit.Elements[int64](t, mine))
	require.NoError(t, td.IndexInto(tensor.Must(td.Index(ix.Take(0))), ix.Range(1, 2)), "into one that shares the tensor")

	fresh := tdict.New(3)
	require.NoError(t, fresh.SetIndexWith(same, create, ix.At(1)))
	require.Equal(t, shapeops.Shape{3, 3}, tensor.Must(fresh.Get("w")).Shape().Clone())
	require.Equal(t, []int64{0, 8, 0}, values(t, fresh, "a"))
}
