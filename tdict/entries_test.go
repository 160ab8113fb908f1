package tdict_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// foreign has a shape, and is no Value all the same.
type foreign struct{}

func (foreign) Shape() shapeops.Shape { return shapeops.Shape{3} }

func set(key nestedkey.Key, v tdict.Value) func(td *tdict.TensorDict) error {
	return func(td *tdict.TensorDict) error { return td.Set(key, v) }
}

func rename(from, to nestedkey.Key) func(td *tdict.TensorDict) error {
	return func(td *tdict.TensorDict) error { return td.Rename(from, to) }
}

func get(key nestedkey.Key) func(td *tdict.TensorDict) error {
	return func(td *tdict.TensorDict) error { return testkit.Err(td.Get(key)) }
}

func update(other *tdict.TensorDict) func(td *tdict.TensorDict) error {
	return func(td *tdict.TensorDict) error { return td.Update(other) }
}

func TestEntriesRefuse(t *testing.T) {
	refuse(t, sample, []refusal{
		{"get: missing, with the keys there are", get("x"), tdict.ErrMissing},
		{"get: missing, with a few of many keys", func(*tdict.TensorDict) error { return testkit.Err(wide(11).Get("x")) }, tdict.ErrMissing},
		{"get: missing, without any key", func(*tdict.TensorDict) error { return testkit.Err(tdict.New().Get("x")) }, tdict.ErrMissing},
		{"get: missing within", get("b/x"), tdict.ErrMissing},
		{"get: through a leaf", get("a/x"), tdict.ErrNotDict},
		{"get: ill-formed is missing", get("~"), tdict.ErrMissing},
		{"tensor: a dictionary is none", func(td *tdict.TensorDict) error { return testkit.Err(td.Tensor("b")) }, tdict.ErrKind},
		{"dict: a tensor is none", func(td *tdict.TensorDict) error { return testkit.Err(td.Dict("b/c")) }, tdict.ErrNotDict},

		{"set: ill-formed key", set("b/~", count(3)), nestedkey.ErrKey},
		{"set: another type", set("x", foreign{}), tdict.ErrKind},
		{"set: through a leaf", set("b/c/d", count(3)), tdict.ErrNotDict},
		{"set: another batch size", set("x", count(4)), shapeops.ErrShape},
		{"set: a scalar does not broadcast", set("x", tensor.Scalar(1.5)), shapeops.ErrShape},
		{"set: the longer batch shape of the dictionary it lands in", set("b/x", count(3)), shapeops.ErrShape},
		{"set: dictionaries on the way are not created", set("x/y/z", count(4)), shapeops.ErrShape},
		{"set: a dictionary of another batch size", set("x", tdict.New(2, 3)), shapeops.ErrShape},
		{"set: a leaf of a dictionary with a shorter batch shape", set("x", dict(nil, entry{"y/z", count(2)})), shapeops.ErrShape},
		{"set: itself", func(td *tdict.TensorDict) error { return td.Set("me", td) }, tdict.ErrCycle},
		{"set: itself, below a new dictionary", func(td *tdict.TensorDict) error { return td.Set("x/me", td) }, tdict.ErrCycle},
		{"set: what holds it, deep down", func(td *tdict.TensorDict) error {
			return tensor.Must(td.Dict("b")).Set("up", dict(nil, entry{"x", dict(nil, entry{"td", td})}))
		}, tdict.ErrCycle},

		{"delete: missing", func(td *tdict.TensorDict) error { return td.Delete("b/x") }, tdict.ErrMissing},
		{"delete: through a leaf", func(td *tdict.TensorDict) error { return td.Delete("a/x") }, tdict.ErrNotDict},
		{"pop: missing", func(td *tdict.TensorDict) error { return testkit.Err(td.Pop("x")) }, tdict.ErrMissing},

		{"rename: missing", rename("x", "y"), tdict.ErrMissing},
		{"rename: missing, to itself", rename("x", "x"), tdict.ErrMissing},
		{"rename: onto another", rename("a", "b"), tdict.ErrExists},
		{"rename: below itself", rename("b", "b/x/y"), tdict.ErrCycle},
		{"rename: through a leaf", rename("b/c", "a/c"), tdict.ErrNotDict},
		{"rename: into a batch shape that does not fit", func(td *tdict.TensorDict) error {
			return dict([]int{3}, entry{"x", count(3)}, entry{"b", tensor.Must(td.Dict("b"))}).Rename("x", "b/d")
		}, shapeops.ErrShape},
		{"rename: ill-formed key", rename("a", "~"), nestedkey.ErrKey},

		{"update: another batch shape", update(tdict.New(3, 4)), shapeops.ErrShape},
		{"update: a later entry that does not fit", update(dict([]int{3}, entry{"a", count(3)}, entry{"n", count(3)}, entry{"b/d", count(3)})), shapeops.ErrShape},

		{"select: missing", func(td *tdict.TensorDict) error { return testkit.Err(td.Select("a", "b/x")) }, tdict.ErrMissing},
		{"select: through a leaf", func(td *tdict.TensorDict) error { return testkit.Err(td.Select("a/x")) }, tdict.ErrNotDict},
		{"flatten keys: two become one", func(td *tdict.TensorDict) error {
			return testkit.Err(dict([]int{3}, entry{"b.c.d", count(3)}, entry{"b", dict(nil, entry{"c/d", count(3)})}).FlattenKeys("."))
		}, tdict.ErrExists},
		{"flatten keys: two of many become one", func(td *tdict.TensorDict) error {
			many := wide(10, 3)
			_ = many.Set("d/x", count(3))
			_ = many.Set("d.x", count(3))
			return testkit.Err(many.FlattenKeys("."))
		}, tdict.ErrExists},
		{"unflatten keys: below a leaf", func(td *tdict.TensorDict) error {
			return testkit.Err(dict([]int{3}, entry{"a", count(3)}, entry{"a.b", count(3)}).UnflattenKeys("."))
		}, tdict.ErrNotDict},
		{"unflatten keys: onto a leaf that has joined", func(td *tdict.TensorDict) error {
			return testkit.Err(dict([]int{3}, entry{"a.b", count(3)}, entry{"a/b", count(3)}).UnflattenKeys("."))
		}, tdict.ErrExists},
		{"unflatten keys: no separator", func(td *tdict.TensorDict) error { return testkit.Err(td.UnflattenKeys("")) }, nestedkey.ErrKey},
	})
}

// locked is a sample with "d", an empty dictionary, all locked.
func locked() *tdict.TensorDict {
	td := sample()
	_ = td.Set("d", tdict.New(3))
	td.Lock()
	return td
}

func TestLockedEntriesRefuse(t *testing.T) {
	inB := func(fn func(b *tdict.TensorDict) error) func(*tdict.TensorDict) error {
		return func(td *tdict.TensorDict) error { return fn(tensor.Must(td.Dict("b"))) }
	}
	refuse(t, locked, []refusal{
		{"set: a new key", set("x", count(3)), tdict.ErrLocked},
		{"set: a key there is", set("a", count(3)), tdict.ErrLocked},
		{"set: within", set("b/x/y", count(3, 4)), tdict.ErrLocked},
		{"set: on the inner dictionary itself", inB(set("x", count(3, 4))), tdict.ErrLocked},
		{"delete", func(td *tdict.TensorDict) error { return td.Delete("b/c") }, tdict.ErrLocked},
		{"pop", func(td *tdict.TensorDict) error { return testkit.Err(td.Pop("a")) }, tdict.ErrLocked},
		{"rename", rename("b/c", "b/d"), tdict.ErrLocked},
		{"rename: out of a locked dictionary", rename("b/c", "c"), tdict.ErrLocked},
		{"rename: into a locked dictionary", func(td *tdict.TensorDict) error {
			return dict([]int{3}, entry{"x", count(3)}, entry{"b", tensor.Must(td.Dict("d"))}).Rename("x", "b/x")
		}, tdict.ErrLocked},
		{"update", update(dict([]int{3}, entry{"b", dict([]int{3, 4}, entry{"x", count(3, 4)})})), tdict.ErrLocked},
		{"set index: a new key", func(td *tdict.TensorDict) error {
			return td.SetIndexWith(dict([]int{3}, entry{"a", tensor.Must(tensor.Full[int64](9, 3, 4))}, entry{"x", count(3)}), create)
		}, tdict.ErrLocked},
		{"set index: a new key within", func(td *tdict.TensorDict) error {
			return td.SetIndexWith(dict([]int{2}, entry{"b/x", count(2, 4)}), create, ix.Take(0, 1))
		}, tdict.ErrLocked},
		{"unlock: an entry of a locked dictionary", inB((*tdict.TensorDict).Unlock), tdict.ErrLocked},
	})
}

func TestOperationsRefuse(t *testing.T) {
	join := func(td *tdict.TensorDict, other *tdict.TensorDict) error {
		return testkit.Err(shapeops.Stack([]*tdict.TensorDict{td, other}, 0))
	}
	into := func(dst *tdict.TensorDict, expr ...ix.Index) func(td *tdict.TensorDict) error {
		return func(td *tdict.TensorDict) error { return td.IndexInto(dst, expr...) }
	}
	other := func(key nestedkey.Key, v tdict.Value) *tdict.TensorDict {
		td := sample()
		_ = td.Delete(key)
		_ = td.Set(key, v)
		return td
	}
	ints := tensor.Must(tensor.Zeros[int32](3, 4))
	refuse(t, sample, []refusal{
		{"index: a feature", func(td *tdict.TensorDict) error { return testkit.Err(td.Index(ix.At(0), ix.At(0))) }, shapeops.ErrIndex},
		{"index: a mask over features", func(td *tdict.TensorDict) error { return testkit.Err(td.Index(ix.Mask(make([]bool, 12), 3, 4))) }, shapeops.ErrIndex},
		{"index into: another batch shape", into(sample(), ix.Take(0, 1)), shapeops.ErrShape},
		{"index into: a missing key", into(dict([]int{3}, entry{"a", count(3, 4)})), tdict.ErrMissing},
		{"index into: a key too many", into(other("b/x", count(3, 4))), tdict.ErrMissing},
		{"index into: another dtype", into(other("a", ints)), tensor.ErrDType},
		{"index into: a leaf for a dictionary", into(other("b", count(3))), tdict.ErrKind},
		{"index into: expanded", func(td *tdict.TensorDict) error {
			return td.IndexInto(tensor.Must(tensor.Must(td.Index(ix.Range(0, 1))).Expand(3)))
		}, tensor.ErrLayout},
		{"stack: a key too few", func(td *tdict.TensorDict) error { return join(td, dict([]int{3}, entry{"a", count(3, 4)})) }, tdict.ErrMissing},
		{"stack: a key too many, within", func(td *tdict.TensorDict) error { return join(td, other("b/x", count(3, 4))) }, tdict.ErrMissing},
		{"stack: another dtype", func(td *tdict.TensorDict) error { return join(td, other("a", ints)) }, tensor.ErrDType},
		{"stack: another feature shape", func(td *tdict.TensorDict) error { return join(td, other("b/c", count(3, 4, 1))) }, shapeops.ErrShape},
		{"stack: a leaf for a dictionary", func(td *tdict.TensorDict) error { return join(td, other("b", count(3, 4))) }, tdict.ErrKind},
		{"stack: another batch shape within", func(td *tdict.TensorDict) error {
			return join(td, other("b", dict([]int{3, 4, 2}, entry{"c", count(3, 4, 2)})))
		}, shapeops.ErrShape},
		{"stack: another batch shape", func(td *tdict.TensorDict) error { return join(td, tdict.New(2)) }, shapeops.ErrShape},
		{"stack: along a feature", func(td *tdict.TensorDict) error {
			return testkit.Err(shapeops.Stack([]*tdict.TensorDict{td}, 2))
		}, shapeops.ErrDim},
		{"stack into: other keys", func(td *tdict.TensorDict) error {
			return shapeops.StackInto(tdict.New(1, 3), []*tdict.TensorDict{td}, 0)
		}, tdict.ErrMissing},
		{"unbind: no batch dim", func(*tdict.TensorDict) error { return testkit.Err(shapeops.Unbind(tdict.New(), 0)) }, shapeops.ErrDim},
		{"unsqueeze: among features", func(td *tdict.TensorDict) error { return testkit.Err(td.Unsqueeze(2)) }, shapeops.ErrDim},
		{"flatten: into features", func(td *tdict.TensorDict) error { return testkit.Err(td.Flatten(0, 1)) }, shapeops.ErrDim},
		{"execute: a plan on another shape", func(td *tdict.TensorDict) error {
			return testkit.Err(td.Ops().Execute(plan.NewPass(tensor.Must(plan.Index(shapeops.Shape{4})))))
		}, shapeops.ErrShape},
	})
}

func TestReadOnlyLeafRefusesWrites(t *testing.T) {
	lent := &testkit.Lender{Bytes: make([]byte, 24), Locked: true}
	td := dict([]int{3}, entry{"a", count(3)}, entry{"ro", tensor.Must(tensor.FromLender(tensor.Int64, lent, 0, 3))})
	testkit.Unchanged(t, td, state, func() { testkit.Fails(t, tensor.ErrReadOnly, td.SetIndex(tensor.Scalar[int64](9), ix.At(0))) })
	require.Contains(t, fmt.Sprintf("%+v", td), "memory=lent, read-only")
}

func TestSetDictionary(t *testing.T) {
	deep := dict(nil, entry{"x", count(3)}, entry{"y", dict([]int{3, 1}, entry{"z", count(3, 1)})})
	tests := []struct {
		name  string
		value *tdict.TensorDict
		batch shapeops.Shape // under the key
		same  bool           // the very dictionary is set
	}{
		{"the same batch shape is shared", tdict.New(3), shapeops.Shape{3}, true},
		{"a longer one is kept", tdict.New(3, 0), shapeops.Shape{3, 0}, true},
		{"a shorter one is made longer in a copy", deep, shapeops.Shape{3}, false},
		{"that of an empty dictionary too", tdict.New(), shapeops.Shape{3}, false},
		{"the zero dictionary is one", new(tdict.TensorDict), shapeops.Shape{3}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td, before, order := sample(), state(t, tt.value), keys(tt.value)
			require.NoError(t, td.Set("a", tt.value)) // in the place of a leaf
			got := tensor.Must(td.Dict("a"))
			require.Equal(t, tt.batch, got.Shape())
			require.Equal(t, order, keys(got))
			require.Equal(t, tt.same, got == tt.value)
			require.Equal(t, before, state(t, tt.value), "the value has changed")
			consistent(t, td)
			for key, leaf := range tt.value.Leaves() {
				require.Same(t, leaf, tensor.Must(got.Get(key)), "leaves are shared")
			}
			if !tt.same {
				ruin(t, got)
				require.Equal(t, order, keys(tt.value), "what is set is a copy at every depth")
			}
		})
	}
}

// A dictionary that Set has to copy is a copy at every depth: no lock of the value reaches into it.
func TestSetCopyIsNotLocked(t *testing.T) {
	value := dict(nil, entry{"x", dict([]int{3})})
	value.Lock()
	td := sample()
	require.NoError(t, td.Set("copy", value))
	require.NoError(t, td.Set("copy/x/y", count(3)))
	require.Equal(t, []nestedkey.Key{"x"}, keys(value))
}

// FromMap that returns an error has changed nothing, the dictionaries it was given included.
func TestFromMapErrorChangesNoValue(t *testing.T) {
	child := tdict.New(3)
	_, err := tdict.FromMap(shapeops.Shape{3}, map[nestedkey.Key]tdict.Value{"a": child, "a/b": count(3), "c": count(4)})
	require.ErrorIs(t, err, shapeops.ErrShape)
	require.Zero(t, child.NumEntries())
}

func TestFromMap(t *testing.T) {
	type entries = map[nestedkey.Key]tdict.Value
	td, err := tdict.FromMap(shapeops.Shape{3}, entries{"b": count(3), "a/d": count(3), "a/c": count(3), "A": count(3)})
	require.NoError(t, err)
	require.Equal(t, []nestedkey.Key{"A", "a", "a/c", "a/d", "b"}, keys(td))
	tests := []struct {
		name    string
		batch   shapeops.Shape
		entries entries
		is      error
	}{
		{"a leaf where a key needs a dictionary", shapeops.Shape{3}, entries{"a": count(3), "a/b": count(3)}, tdict.ErrNotDict},
		{"a leaf of another batch size", shapeops.Shape{3}, entries{"a": count(3), "b": count(4)}, shapeops.ErrShape},
		{"a negative size", shapeops.Shape{-1}, nil, shapeops.ErrShape},
		{"more elements than can be counted", shapeops.Shape{math.MaxInt, 2}, nil, shapeops.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td, err := tdict.FromMap(tt.batch, tt.entries)
			require.ErrorIs(t, err, tt.is)
			require.Nil(t, td)
		})
	}
}

// A negative batch shape, which New cannot refuse, leads to errors, never to a panic.
func TestNegativeBatchShapeIsAnError(t *testing.T) {
	td := tdict.New(-1)
	ops := map[string]func() error{
		"set":      func() error { return td.Set("a", count(1)) },
		"index":    func() error { return testkit.Err(td.Index()) },
		"reshape":  func() error { return testkit.Err(td.Reshape(1)) },
		"stack":    func() error { return testkit.Err(shapeops.Stack([]*tdict.TensorDict{td}, 0)) },
		"split":    func() error { return testkit.Err(shapeops.Split(td, 0, 1)) },
		"split by": func() error { return testkit.Err(shapeops.SplitBy(td, 0, 1)) },
		"chunk":    func() error { return testkit.Err(shapeops.Chunk(td, 0, 5)) },
		"unbind":   func() error { return testkit.Err(shapeops.Unbind(td, 0)) },
	}
	for name, op := range ops {
		t.Run(name, func(t *testing.T) {
			require.NotPanics(t, func() { require.ErrorIs(t, op(), shapeops.ErrShape) })
		})
	}
}

func TestOrderIsThatOfSetting(t *testing.T) {
	at := func(names ...nestedkey.Key) *tdict.TensorDict {
		td := tdict.New()
		for _, name := range names {
			_ = td.Set(name, tensor.Scalar[int64](0))
		}
		return td
	}
	tests := []struct {
		name string
		op   func(td *tdict.TensorDict) error
		want []nestedkey.Key // of z, a, m/x, m/y
	}{
		{"set over another takes its place", func(td *tdict.TensorDict) error {
			v, err := td.Pop("m")
			return errors.Join(err, td.Set("z", v))
		},
			[]nestedkey.Key{"z", "z/x", "z/y", "a"}},
		{"set over the dictionary that was around it", func(td *tdict.TensorDict) error {
			v, err := td.Pop("m/y")
			return errors.Join(err, td.Set("m", v))
		},
			[]nestedkey.Key{"z", "a", "m"}},
		{"update by itself changes nothing", func(td *tdict.TensorDict) error { return td.Update(td) },
			[]nestedkey.Key{"z", "a", "m", "m/x", "m/y"}},
		{"names are any text", set(nestedkey.Of("", "~/", ""), tensor.Scalar(1.5)),
			[]nestedkey.Key{"z", "a", "m", "m/x", "m/y", "", "/~0~1", "/~0~1/"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := at("z", "a", "m/x", "m/y")
			require.NoError(t, tt.op(td))
			require.Equal(t, tt.want, keys(td))
			consistent(t, td)
		})
	}
}

// The zero TensorDict, the empty batch shape, sizes of zero and dictionaries without leaves work
// like all others.
func TestSmallDictionaries(t *testing.T) {
	var zero tdict.TensorDict
	require.True(t, zero.Equal(tdict.New()))
	require.Zero(t, zero.NumEntries())
	require.Empty(t, keys(&zero))
	require.NoError(t, zero.Set("a/b", tensor.Scalar(true)))
	require.Equal(t, []nestedkey.Key{"a", "a/b"}, keys(&zero))
	require.Equal(t, shapeops.Shape{1}, tensor.Must(zero.Index(ix.New)).Shape())
	require.ErrorIs(t, testkit.Err(zero.Index(ix.At(0))), shapeops.ErrIndex)
	require.True(t, zero.Equal(tensor.Must(zero.Index(ix.Rest))))

	for _, td := range []*tdict.TensorDict{tdict.New(3), dict([]int{3}, entry{"x", dict([]int{3, 2})})} {
		require.ErrorIs(t, testkit.Err(td.Index(ix.At(7))), shapeops.ErrIndex, "validated without a leaf")
		require.ErrorIs(t, testkit.Err(td.Index(ix.Mask([]bool{true, false}))), shapeops.ErrIndex)
		require.ErrorIs(t, testkit.Err(td.Reshape(5)), shapeops.ErrShape)
		require.ErrorIs(t, td.SetIndex(tensor.Scalar(1.5), ix.At(3)), shapeops.ErrIndex)
	}

	none := dict([]int{0}, entry{"x", count(0, 2)}, entry{"d", dict([]int{0, 3}, entry{"y", count(0, 3)})})
	require.ErrorIs(t, testkit.Err(none.Index(ix.At(0))), shapeops.ErrIndex)
	require.Equal(t, shapeops.Shape{2, 0}, tensor.Must(shapeops.Stack([]*tdict.TensorDict{none, none}, 0)).Shape())
	require.Empty(t, tensor.Must(shapeops.Unbind(none, 0)))
	require.Len(t, tensor.Must(shapeops.Chunk(none, 0, 3)), 1)
	require.Equal(t, shapeops.Shape{0, 4, 2}, tensor.Must(tensor.Must(none.Reshape(0, 4)).Tensor("x")).Shape())
}

// What a dictionary is made into is its own at every depth and unlocked; its leaves are shared or
// copied as documented.
func TestDerivedDictionaries(t *testing.T) {
	identity := func(_ nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error) { return x, nil }
	first := func(all []*tdict.TensorDict, err error) (*tdict.TensorDict, error) { return all[0], err }
	tests := []struct {
		name   string
		shares bool
		make   func(td *tdict.TensorDict) (*tdict.TensorDict, error)
	}{
		{"index whole", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Index() }},
		{"index by a range", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Index(ix.Range(1, 3)) }},
		{"index by a list", false, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Index(ix.Take(0, 1, 2)) }},
		{"index by a mask", false, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Index(ix.Bool(true)) }},
		{"reshape", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Reshape(1, 3) }},
		{"permute", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Permute(0) }},
		{"squeeze nothing", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Squeeze() }},
		{"expand", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Expand(2, 3) }},
		{"split", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return first(shapeops.Split(td, 0, 3)) }},
		{"unbind", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return first(shapeops.Unbind(td, 0)) }},
		{"stack", false, func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
			return shapeops.Stack([]*tdict.TensorDict{td}, 0)
		}},
		{"cat", false, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return shapeops.Cat([]*tdict.TensorDict{td}, 0) }},
		{"clone", false, (*tdict.TensorDict).Clone},
		{"select", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Select("a", "b") }},
		{"select within", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.SelectPresent("b/c", "b/x"), nil }},
		{"exclude nothing", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Exclude(), nil }},
		{"exclude within", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Exclude("b/x", "a"), nil }},
		{"flatten keys", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.FlattenKeys(".") }},
		{"unflatten keys", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.UnflattenKeys(".") }},
		{"update", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
			out := tdict.New(3)
			return out, out.Update(td)
		}},
		{"apply", true, func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Apply(identity) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := locked()
			before := state(t, td)
			got, err := tt.make(td)
			require.NoError(t, err)
			consistent(t, got)
			leaf := tensor.Must(td.Tensor("b/c"))
			for key, x := range got.Leaves() {
				if key.Name() != "a" {
					require.Equal(t, tt.shares, x.(*tensor.Tensor).SharesMemory(leaf), key)
				}
			}
			ruin(t, got)
			require.Equal(t, before, state(t, td))
			require.NoError(t, td.Unlock())
			was := keys(got)
			ruin(t, td)
			require.Equal(t, was, keys(got), "nor does the original reach into what was made of it")
		})
	}
}

func TestSelectAndExclude(t *testing.T) {
	from := dict(nil, entry{"z", count()}, entry{"a/x", count()}, entry{"a/y/p", count()}, entry{"a/y/q", count()}, entry{"e", tdict.New()})
	type list = []nestedkey.Key
	tests := []struct {
		name               string
		keys               list
		selected, excluded list
	}{
		{"no key", nil, list{}, keys(from)},
		{"a leaf", list{"z"}, list{"z"}, list{"a", "a/x", "a/y", "a/y/p", "a/y/q", "e"}},
		{"the order is the dictionary's", list{"a/x", "z"}, list{"z", "a", "a/x"}, list{"a", "a/y", "a/y/p", "a/y/q", "e"}},
		{"a dictionary whole", list{"a"}, list{"a", "a/x", "a/y", "a/y/p", "a/y/q"}, list{"z", "e"}},
		{"a longer key says which part", list{"a", "a/y", "a/y/q"}, list{"a", "a/y", "a/y/q"}, list{"z", "e"}},
		{"an empty dictionary", list{"e"}, list{"e"}, list{"z", "a", "a/x", "a/y", "a/y/p", "a/y/q"}},
		{"a dictionary that becomes empty stays", list{"a/x", "a/y"}, list{"a", "a/x", "a/y", "a/y/p", "a/y/q"}, list{"z", "a", "e"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.selected, keys(tensor.Must(from.Select(tt.keys...))))
			require.Equal(t, tt.selected, keys(from.SelectPresent(append(tt.keys, "no", "z/no")...)))
			require.Equal(t, tt.excluded, keys(from.Exclude(append(tt.keys, "no", "z/no", "a/no")...)))
		})
	}
	require.Equal(t, list{"a"}, keys(from.SelectPresent("a/no")), "the dictionary around what is missing")
}

func TestFlattenAndUnflattenKeys(t *testing.T) {
	td := func(all ...nestedkey.Key) *tdict.TensorDict {
		out := tdict.New(2)
		for _, key := range all {
			_ = out.Set(key, count(2))
		}
		return out
	}
	type list = []nestedkey.Key
	tests := []struct {
		name string
		from *tdict.TensorDict
		sep  string
		flat list // leaves of FlattenKeys
		deep list // leaves of UnflattenKeys
	}{
		{"parts are joined and cut", td("a/b", "c.d"), ".", list{"a.b", "c.d"}, list{"a/b", "c/d"}},
		{"a separator of nestedkey is escaped", td("a/b", "c~1d"), "/", list{"a~1b", "c~1d"}, list{"a/b", "c/d"}},
		{"at every separator", td(".a", "a..b", "b."), ".", list{".a", "a..b", "b."}, list{"/a", "a//b", "b/"}},
		{"a long separator", td("a::b", "c/d"), "::", list{"a::b", "c::d"}, list{"a/b", "c/d"}},
		{"what lands in a dictionary joins it", td("a/b", "a.c", "a/d.e"), ".", list{"a.b", "a.d.e", "a.c"}, list{"a/b", "a/d.e", "a/c"}},
		{"a dictionary joins what has landed", td("a.b.c", "a/b/d"), ".", list{"a.b.c", "a.b.d"}, list{"a/b/c", "a/b/d"}},
		{"nothing", tdict.New(2), ".", list{}, list{}},
		{"empty dictionaries vanish", dict([]int{2}, entry{"a", tdict.New(2)}, entry{"b", count(2)}), ".", list{"b"}, list{"b"}},
	}
	leaves := func(td *tdict.TensorDict) list { return testkit.Keys(td.Leaves()) }
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			flat, deep := tensor.Must(tt.from.FlattenKeys(tt.sep)), tensor.Must(tt.from.UnflattenKeys(tt.sep))
			require.Equal(t, tt.flat, leaves(flat))
			require.Equal(t, tt.deep, leaves(deep))
			require.Equal(t, shapeops.Shape{2}, flat.Shape())
			consistent(t, deep)
		})
	}
	flat := tensor.Must(sample().FlattenKeys("."))
	require.Equal(t, shapeops.Shape{3}, flat.Shape(), "a longer batch shape within is lost")
}

// No operation makes a key that Set would refuse.
func TestSeparatorMustSpellKeys(t *testing.T) {
	td := dict(nil, entry{"é", count()}, entry{"a/b", count()})
	require.ErrorIs(t, testkit.Err(td.UnflattenKeys("\xa9")), nestedkey.ErrKey, "half of é")
	require.ErrorIs(t, testkit.Err(td.FlattenKeys("\xff")), nestedkey.ErrKey, "no UTF-8")
}

func TestIteratorsStop(t *testing.T) {
	td := dict(nil, entry{"a/b/c", count()}, entry{"a/b/d", count()}, entry{"e", count()})
	for range td.All() {
		break
	}
	n := 0
	for key := range td.NestedKeys() {
		if n++; key == "a/b/c" {
			break
		}
	}
	require.Equal(t, 3, n)
	for key := range td.Leaves() {
		require.Equal(t, nestedkey.Key("a/b/c"), key)
		break
	}
}
