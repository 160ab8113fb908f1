package tdict_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
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
				require.Equal(t, tt.keys, testkit.Keys(got.Leaves()))
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
        name: Data(shape=[3], values=["a" "b" "c"]),
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
		{"a slice of data", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Slice[int64](td, "name")) }, tdict.ErrKind},
		{"a slice of another type", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Slice[float64](td, "x")) }, tensor.ErrDType},
		{"an item of data", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Item[int64](td, "d/label", 0)) }, tdict.ErrKind},
		{"an item of an unbatched tensor", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Item[int64](td, "w", 0)) }, tdict.ErrKind},
		{"an item of a missing key", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Item[int64](td, "d/no", 0)) }, tdict.ErrMissing},
		{"an item of another type", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Item[float64](td, "x", 0, 0)) }, tensor.ErrDType},
		{"an item of a row", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Item[int64](td, "x", 0)) }, shapeops.ErrIndex},
		{"an item beyond the end", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Item[int64](td, "d/y", 3)) }, shapeops.ErrIndex},
		{"the only item of several", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Item[int64](td, "x")) }, shapeops.ErrShape},
	})
}

// Slice is the tensor's own memory where that is Go's and in order, and a copy everywhere else.
func TestSlice(t *testing.T) {
	for _, m := range testkit.Memories {
		for _, l := range testkit.Layouts {
			s := testkit.Make(t, tensor.Int32, []int{2, 3}, l, m, 0)
			want := testkit.Elements[int32](t, s.Tensor)
			got := tensor.Must(tdict.Slice[int32](dict([]int{2}, entry{"x", s.Tensor}), "x"))
			require.Equal(t, want, got)
			require.Equal(t, want, tensor.Must(tensor.Slice[int32](s.Tensor)))
			before := slices.Clone(s.Mem)
			got[0]++
			own := m.Name == testkit.Go.Name && l.Name == testkit.Contiguous.Name
			require.Equal(t, own, !slices.Equal(before, s.Mem), "%s/%s", m.Name, l.Name)
			if lent, ok := s.Lender().(*testkit.Lender); ok {
				require.Zero(t, lent.Borrowed()+lent.Pinned())
			}
		}
	}
	empty := tensor.Must(tdict.Slice[int64](dict(nil, entry{"x", count(0)}), "x"))
	require.Empty(t, empty)
}

// Item reads an element in place, at a position in the batch dims and those after it.
func TestItem(t *testing.T) {
	td := sample()
	require.Equal(t, int64(11), tensor.Must(tdict.Item[int64](td, "a", 2, 3)))
	require.Equal(t, int64(22), tensor.Must(tdict.Item[int64](td, "b/c", 2, -1, 0)))
	require.Equal(t, int64(8), tensor.Must(tdict.Item[int64](tensor.Must(td.Index(ix.At(-1))), "a", 0)), "of a view")
	require.Equal(t, int64(7), tensor.Must(tdict.Item[int64](dict([]int{1}, entry{"x", tensor.Vector[int64](7)}), "x")), "the only one")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_ = tensor.Must(tdict.Item[int64](td, "b/c", 2, -1, 0))
	}))
}

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
		{"reshape", func() (dictionary, error) { return td.Reshape(2) }, shapeops.Shape{2}},
		{"stack", func() (dictionary, error) { return shapeops.Stack([]dictionary{td, td, td}, 1) }, shapeops.Shape{2, 3, 1}},
		{"copy", func() (dictionary, error) { return td.Copy(), nil }, shapeops.Shape{2, 1}},
		{"a longer batch", func() (dictionary, error) { return td.WithBatch(2, 1, 3) }, shapeops.Shape{2, 1, 3}},
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
	row := func(x *tensor.Tensor) *tdict.TensorDict { return tensor.Must(of(x).Index(ix.At(0))) }
	other := tensor.Vector[int64](0, 1, 3)
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

// Unbatched tensors are the same if their bits are: NaN is, in memory of its own too, and 0 and -0
// are not.
func TestUnbatchedBits(t *testing.T) {
	of := func(x *tensor.Tensor) dictionary {
		return dict([]int{2}, entry{"a", count(2)}, entry{"d/w", unbatched(x)})
	}
	nan, other := math.NaN(), math.Float64frombits(math.Float64bits(math.NaN())^1)
	pair := func(b float64) *tensor.Tensor { return tensor.Vector(1, b) }
	ops := map[string]func(td, with dictionary) error{
		"stack":           func(td, with dictionary) error { return testkit.Err(shapeops.Stack([]dictionary{td, with}, 0)) },
		"cat":             func(td, with dictionary) error { return testkit.Err(shapeops.Cat([]dictionary{td, with}, 0)) },
		"update in place": func(td, with dictionary) error { return td.UpdateInPlace(with) },
		"set index":       func(td, with dictionary) error { return td.SetIndex(tensor.Must(with.Index(ix.At(0))), ix.At(1)) },
		"cat into": func(td, with dictionary) error {
			return shapeops.CatInto(tensor.Must(with.NewZeros(4)), []dictionary{td, td}, 0)
		},
		"pad sequence into": func(td, with dictionary) error {
			return shapeops.PadSequenceInto(tensor.Must(with.NewZeros(2, 2)), []dictionary{td, td}, shapeops.PadSequenceOptions{})
		},
	}
	tests := []struct {
		name  string
		mine  *tensor.Tensor
		other *tensor.Tensor
		same  bool
	}{
		{"NaN", pair(nan), pair(nan), true},
		{"NaN of 16 bits", tensor.Must(pair(nan).Cast(tensor.Float16)), tensor.Must(pair(nan).Cast(tensor.Float16)), true},
		{"complex NaN", tensor.Vector(complex(1, nan)), tensor.Vector(complex(1, nan)), true},
		{"NaN repeated", tensor.Must(tensor.Scalar(nan).Expand(2)), tensor.Vector(nan, nan), true},
		{"another NaN", pair(nan), pair(other), false},
		{"0 and -0", pair(0), pair(math.Copysign(0, -1)), false},
		{"another imaginary part", tensor.Vector(complex(1, nan)), tensor.Vector(complex(1, 0)), false},
	}
	for _, tt := range tests {
		for name, op := range ops {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				err := op(of(tt.mine), of(tt.other))
				if tt.same {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, tdict.ErrDiffers)
			})
		}
	}
}
