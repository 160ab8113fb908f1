package tdict_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// What is about keys and structure treats all kinds alike: leaves are the same, or of their own
// after Clone, and the dictionary that was read stays as it was. (The oracles have what is about
// shapes.)
func TestKindsTogether(t *testing.T) {
	type dictionary = *tdict.TensorDict
	every := []nestedkey.Key{"name", "x", "d/label", "d/y", "w"}
	tests := []struct {
		name string
		op   func(td dictionary) (dictionary, error)
		keys []nestedkey.Key // of the leaves, as td has them
		own  bool            // leaves are copies
	}{
		{"copy", func(td dictionary) (dictionary, error) { return td.Copy(), nil }, every, false},
		{"clone", func(td dictionary) (dictionary, error) { return td.Clone() }, every, true},
		{"shorter batch", func(td dictionary) (dictionary, error) { return td.WithBatch() }, every, false},
		{"update", func(td dictionary) (dictionary, error) { out := tdict.New(3); return out, out.Update(td) }, every, false},
		{"select", func(td dictionary) (dictionary, error) { return td.Select("name", "d/label", "w") }, []nestedkey.Key{"name", "d/label", "w"}, false},
		{"exclude", func(td dictionary) (dictionary, error) { return td.Exclude("d/label", "x"), nil }, []nestedkey.Key{"name", "d/y", "w"}, false},
		{"flatten and unflatten keys", func(td dictionary) (dictionary, error) {
			return tensor.Must(td.FlattenKeys(".")).UnflattenKeys(".")
		}, every, false},
		{"rename", func(td dictionary) (dictionary, error) {
			out := td.Copy()
			return out, errors.Join(out.Rename("name", "d/n"), out.Rename("d/n", "name"))
		}, []nestedkey.Key{"x", "d/label", "d/y", "w", "name"}, false},
		{"apply", func(td dictionary) (dictionary, error) {
			return td.Apply(func(_ nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error) { return x, nil })
		}, every, false},
		{"apply with the same batch", func(td dictionary) (dictionary, error) {
			same := func(_ nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error) { return xs[0], nil }
			return tdict.Apply(context.Background(), []dictionary{td}, same, tdict.ApplyOptions{Batch: shapeops.Shape{3}})
		}, every, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := kinds()
			testkit.Unchanged(t, td, state, func() {
				td.Lock()
				got, err := tt.op(td)
				require.NoError(t, td.Unlock())
				require.NoError(t, err)
				require.False(t, got.Locked())
				consistent(t, got)
				require.Equal(t, tt.keys, slices.Collect(got.LeafKeys()))
				for key, leaf := range got.Leaves() {
					was := tensor.Must(td.Get(key))
					require.Equal(t, !tt.own, was == tdict.Value(leaf), key)
					require.True(t, dict(nil, entry{"v", was}).Equal(dict(nil, entry{"v", leaf})), key)
				}
				ruin(t, got)
			})
		})
	}
}

// A new batch shape repeats data and unbatched tensors, and what Apply lets through cannot have
// one.
func TestKindsOfLongerBatch(t *testing.T) {
	td := dict([]int{3}, entry{"name", texts("a", "b", "c")}, entry{"w", unbatched(count(2))})
	longer := tensor.Must(td.WithBatch(3, 2))
	require.Equal(t, []any{"a", "a", "b", "b", "c", "c"}, slices.Collect(tensor.Must(tdict.Get[*tdict.Data](longer, "name")).All()))
	require.Equal(t, shapeops.Shape{3, 2, 2}, tensor.Must(longer.Get("w")).Shape().Clone())
	require.ErrorIs(t, testkit.Err(td.WithBatch(2)), shapeops.ErrShape)
	require.NoError(t, longer.Set("one", data("x")))
	require.Equal(t, "data [3 2] \"x\"", fmt.Sprint(tensor.Must(longer.Get("one"))))

	none := func(nestedkey.Key, []*tensor.Tensor) (*tensor.Tensor, error) { return nil, nil }
	_, err := tdict.Apply(context.Background(), []*tdict.TensorDict{kinds()}, none, tdict.ApplyOptions{Batch: shapeops.Shape{2}})
	testkit.Fails(t, tdict.ErrKind, err)
}

func TestKindsPrint(t *testing.T) {
	td := kinds()
	require.NoError(t, td.Set("long", data(strings.Repeat("ä", 50), 3)))
	require.Equal(t, `TensorDict(
    fields={
        name: Data(shape=[3]),
        x: Tensor(shape=[3 2], dtype=int64),
        d: TensorDict(
            fields={
                label: Data(shape=[3], value=1),
                y: Tensor(shape=[3], dtype=int64)},
            batch=[3]),
        w: Unbatched(Tensor(shape=[2], dtype=int64)),
        long: Data(shape=[3], value="`+strings.Repeat("ä", 39)+`...)},
    batch=[3])`, fmt.Sprintf("%v", td))
	more := fmt.Sprintf("%+v", td)
	require.Contains(t, more, "w: Unbatched(Tensor(shape=[2], dtype=int64, bytes=16, memory=go))")
	require.Contains(t, more, "locked=false")
	require.Equal(t, "data [9] [0 0 0 0 0 0 0 1 ...]", tensor.Must(tdict.DataFrom([]any{0, 0, 0, 0, 0, 0, 0, 1, 2}, 9)).String())
}

// Get returns a value of the kind that is asked for.
func TestGetOfAKind(t *testing.T) {
	td := kinds()
	require.Equal(t, "data [3] 1", tensor.Must(tdict.Get[*tdict.Data](td, "d/label")).String())
	require.Same(t, tensor.Must(td.Dict("d")), tensor.Must(tdict.Get[*tdict.TensorDict](td, "d")))
	require.Same(t, tensor.Must(td.Tensor("x")), tensor.Must(tdict.Get[*tensor.Tensor](td, "x")))
	require.Equal(t, tensor.Must(td.Get("w")), tensor.Must(tdict.Get[tdict.Value](td, "w")))
	refuse(t, kinds, []refusal{
		{"another kind", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Get[*tensor.Tensor](td, "name")) }, tdict.ErrKind},
		{"a dictionary", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Get[*tdict.Data](td, "d")) }, tdict.ErrKind},
		{"no kind", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Get[foreign](td, "x")) }, tdict.ErrKind},
		{"a missing key", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Get[*tdict.Data](td, "d/no")) }, tdict.ErrMissing},
		{"through a leaf", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Get[*tdict.Data](td, "name/x")) }, tdict.ErrNotDict},
		{"of no dictionary", func(*tdict.TensorDict) error { return testkit.Err(tdict.Get[*tdict.Data](nil, "x")) }, tdict.ErrKind},
		{"a slice of data", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Slice[int64](td, "name")) }, tdict.ErrKind},
		{"a slice of no dictionary", func(*tdict.TensorDict) error { return testkit.Err(tdict.Slice[int64](nil, "x")) }, tdict.ErrKind},
		{"a slice of another type", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Slice[float64](td, "x")) }, tensor.ErrDType},
	})
}

// Slice is the tensor's own memory where that is Go's and in order, and a copy everywhere else.
func TestSlice(t *testing.T) {
	for _, m := range testkit.Memories {
		for _, l := range testkit.Layouts {
			s := testkit.Make(t, tensor.Int32, []int{2, 3}, l, m, 0)
			want := testkit.Elements[int32](t, s.Tensor)
			got, err := tdict.Slice[int32](dict([]int{2}, entry{"x", s.Tensor}), "x")
			require.NoError(t, err)
			require.Equal(t, want, got)
			before := slices.Clone(s.Mem)
			got[0]++
			own := m.Name == testkit.Go.Name && l.Name == testkit.Contiguous.Name
			require.Equal(t, own, !slices.Equal(before, s.Mem), "%s/%s", m.Name, l.Name)
			if lent, ok := s.Lender().(*testkit.Lender); ok {
				require.Zero(t, lent.Borrowed()+lent.Pinned())
			}
		}
	}
	empty, err := tdict.Slice[int64](dict(nil, entry{"x", count(0)}), "x")
	require.NoError(t, err)
	require.Empty(t, empty)
}
