package tdict_test

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

type keyList = []nestedkey.Key

// forest has leaves and dictionaries at several depths, one of which, e, has no entries.
func forest() *tdict.TensorDict {
	return dict([]int{2}, entry{"z", count(2)}, entry{"a/x", count(2)}, entry{"a/y/p", count(2)},
		entry{"a/y/q", count(2)}, entry{"a/e", tdict.New(2)}, entry{"b/c", count(2)})
}

func frozenForest() *tdict.TensorDict {
	td := forest()
	td.Lock()
	return td
}

func splitKeys(sets ...keyList) func(td *tdict.TensorDict) error {
	return func(td *tdict.TensorDict) error { return testkit.Err(tdict.SplitKeys(td, sets...)) }
}

func separate(all ...nestedkey.Key) func(td *tdict.TensorDict) error {
	return func(td *tdict.TensorDict) error { return testkit.Err(td.Separate(all...)) }
}

func mergeWith(opt tdict.MergeOptions, others ...*tdict.TensorDict) func(td *tdict.TensorDict) error {
	return func(td *tdict.TensorDict) error {
		return testkit.Err(tdict.Merge(append([]*tdict.TensorDict{td}, others...), opt))
	}
}

func updateInPlace(other *tdict.TensorDict, all ...nestedkey.Key) func(td *tdict.TensorDict) error {
	return func(td *tdict.TensorDict) error { return td.UpdateInPlace(other, all...) }
}

// updatedWith updates td with what other has under keys.
func updatedWith(td, other *tdict.TensorDict, all ...nestedkey.Key) error {
	part, err := other.Select(all...)
	if err != nil {
		return err
	}
	return td.Update(part)
}

// choosing returns options that choose a value, or fail.
func choosing(v tdict.Value, err error) tdict.MergeOptions {
	return tdict.MergeOptions{Choose: func(nestedkey.Key, []tdict.Value) (tdict.Value, error) { return v, err }}
}

func TestKeyOperationsRefuse(t *testing.T) {
	a := dict([]int{2}, entry{"a/x", count(2)})
	refuse(t, forest, []refusal{
		{"split keys: missing", splitKeys(keyList{"z"}, keyList{"a/no"}), tdict.ErrMissing},
		{"split keys: through a leaf", splitKeys(keyList{"z/x"}), tdict.ErrNotDict},
		{"split keys: a key in two sets", splitKeys(keyList{"a/x"}, keyList{"z", "a/x"}), tdict.ErrExists},
		{"split keys: a key below that of another set", splitKeys(keyList{"a"}, keyList{"a/y/p"}), tdict.ErrExists},
		{"split keys: a key above that of another set", splitKeys(keyList{"a/y/p"}, keyList{"a/y"}), tdict.ErrExists},

		{"separate: missing, after one that is there", separate("z", "no"), tdict.ErrMissing},
		{"separate: missing within", separate("a/y/p", "a/y/no"), tdict.ErrMissing},
		{"separate: through a leaf", separate("a/x", "z/x"), tdict.ErrNotDict},
		{"separate: from a locked dictionary within", func(td *tdict.TensorDict) error {
			tensor.Must(td.Dict("a")).Lock()
			defer func() { _ = tensor.Must(td.Dict("a")).Unlock() }()
			return testkit.Err(td.Separate("z", "a/x"))
		}, tdict.ErrLocked},

		{"merge: another batch shape", mergeWith(tdict.MergeOptions{}, a, tdict.New(3)), shapeops.ErrShape},
		{"merge: another batch shape within", mergeWith(tdict.MergeOptions{}, dict([]int{2}, entry{"a/y", tdict.New(2, 3)})), shapeops.ErrShape},
		{"merge: the choice fails", mergeWith(choosing(nil, errStop), a), errStop},
		{"merge: the choice fails about a key of its own", func(td *tdict.TensorDict) error {
			_, err := td.Get("a/y/no")
			return mergeWith(choosing(nil, err), a)(td)
		}, tdict.ErrMissing},
		{"merge: no value is chosen", mergeWith(choosing(nil, nil), a), tdict.ErrKind},
		{"merge: what is chosen does not fit", mergeWith(choosing(count(3), nil), a), shapeops.ErrShape},
		{"merge: a leaf of what is chosen does not fit", mergeWith(choosing(dict(nil, entry{"v/w", count(3)}), nil), a), shapeops.ErrShape},
		{"merge: what is chosen is too deep", mergeWith(choosing(chain(256, count(2)), nil), a), tdict.ErrDepth},

		{"update in place: td lacks a key", updateInPlace(dict([]int{2}, entry{"z", count(2)}, entry{"a/no", count(2)})), tdict.ErrMissing},
		{"update in place: td lacks an empty dictionary", updateInPlace(dict([]int{2}, entry{"no", tdict.New(2)})), tdict.ErrMissing},
		{"update in place: other lacks a key", updateInPlace(a, "a/x", "a/no"), tdict.ErrMissing},
		{"update in place: another batch shape", updateInPlace(tdict.New()), shapeops.ErrShape},
		{"update in place: another shape of a later leaf", updateInPlace(dict([]int{2}, entry{"z", ones(2)}, entry{"a/x", ones(2, 1)})), shapeops.ErrShape},
		{"update in place: another dtype of a later leaf", updateInPlace(dict([]int{2}, entry{"z", ones(2)}, entry{"a/x", tensor.Vector(1.5, 2)})), tensor.ErrDType},
		{"update in place: a leaf for a dictionary", updateInPlace(dict([]int{2}, entry{"z", ones(2)}, entry{"a", ones(2)})), tdict.ErrKind},
		{"update in place: data for a tensor", updateInPlace(dict([]int{2}, entry{"z", ones(2)}, entry{"a/x", texts("a", "b")})), tdict.ErrKind},
	})
}

func TestLockedKeyOperationsRefuse(t *testing.T) {
	refuse(t, frozenForest, []refusal{
		{"separate", separate("z"), tdict.ErrLocked},
		{"separate: within", separate("a/y/p"), tdict.ErrLocked},
		{"clear", (*tdict.TensorDict).Clear, tdict.ErrLocked},
	})
}

// ones returns an int64 tensor of ones.
func ones(shape ...int) *tensor.Tensor { return tensor.Must(tensor.Full[int64](1, shape...)) }

func TestSplitKeys(t *testing.T) {
	tests := []struct {
		name string
		sets []keyList
		want []keyList
	}{
		{"sets share the dictionaries around them", []keyList{{"a/y/p", "b/c"}, {"a/y/q", "a/x"}},
			[]keyList{{"a", "a/y", "a/y/p", "b", "b/c"}, {"a", "a/x", "a/y", "a/y/q"}, {"z", "a", "a/e"}}},
		{"the order is the dictionary's", []keyList{{"b", "a/x", "z"}}, []keyList{{"z", "a", "a/x", "b", "b/c"}, {"a", "a/y", "a/y/p", "a/y/q", "a/e"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := forest()
			testkit.Unchanged(t, td, state, func() {
				got, err := tdict.SplitKeys(td, tt.sets...)
				require.NoError(t, err)
				require.Len(t, got, len(tt.want))
				for i, part := range got {
					require.Equal(t, tt.want[i], keys(part), "part %d", i)
					require.Equal(t, td.Shape(), part.Shape())
					consistent(t, part)
				}
			})
		})
	}
}

// A dictionary around the keys keeps its batch shape in every part.
func TestSplitKeysKeepsBatchShapes(t *testing.T) {
	td := sample()
	require.NoError(t, td.Set("b/d", count(3, 4)))
	for _, part := range tensor.Must(tdict.SplitKeys(td, keyList{"b/c"})) {
		require.Equal(t, shapeops.Shape{3, 4}, tensor.Must(part.Dict("b")).Shape())
	}
	out := tensor.Must(td.Separate("b/d"))
	require.Equal(t, shapeops.Shape{3, 4}, tensor.Must(out.Dict("b")).Shape())
}

// A dictionary under two keys loses an entry once, and the result has it under both.
func TestSeparateFromADictionaryThatIsThereTwice(t *testing.T) {
	child := dict(nil, entry{"x", count()}, entry{"y", count()})
	td := dict(nil, entry{"a", child}, entry{"b", child})
	got, err := td.Separate("a/x", "b/x")
	require.NoError(t, err)
	require.Equal(t, keyList{"a", "a/x", "b", "b/x"}, keys(got))
	require.Equal(t, keyList{"a", "a/y", "b", "b/y"}, keys(td))
	got, err = td.Separate("a", "b/y")
	require.NoError(t, err)
	require.Equal(t, keyList{"a", "a/y", "b", "b/y"}, keys(got))
	require.Equal(t, keyList{"b"}, keys(td))
}

func TestMerge(t *testing.T) {
	leaf := func(all ...nestedkey.Key) *tdict.TensorDict {
		td := tdict.New(2)
		for _, key := range all {
			require.NoError(t, td.Set(key, count(2)))
		}
		return td
	}
	last := tdict.MergeOptions{Choose: func(_ nestedkey.Key, vs []tdict.Value) (tdict.Value, error) { return vs[len(vs)-1], nil }}
	tests := []struct {
		name string
		tds  []*tdict.TensorDict
		opt  tdict.MergeOptions
		want keyList
		from map[nestedkey.Key]int // the dictionary that a leaf is of
	}{
		{"by first appearance", []*tdict.TensorDict{leaf("c"), leaf("a", "b"), leaf("d")}, tdict.MergeOptions{},
			keyList{"c", "a", "b", "d"}, map[nestedkey.Key]int{"a": 1, "d": 2}},
		{"the last leaf by choice", []*tdict.TensorDict{leaf("a/x", "b"), leaf("c", "b"), leaf("a/x", "d")}, last,
			keyList{"a", "a/x", "b", "c", "d"}, map[nestedkey.Key]int{"a/x": 2, "b": 1, "c": 1}},
		{"a dictionary by choice", []*tdict.TensorDict{leaf("a"), leaf("a/x")}, last, keyList{"a", "a/x"}, map[nestedkey.Key]int{"a/x": 1}},
		{"what is chosen is made to fit", []*tdict.TensorDict{leaf("a"), leaf("a")}, choosing(dict(nil, entry{"v", count(2)}), nil), keyList{"a", "a/v"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tdict.Merge(tt.tds, tt.opt)
			require.NoError(t, err)
			require.Equal(t, tt.want, keys(got))
			consistent(t, got)
			for key, i := range tt.from {
				require.Same(t, tensor.Must(tt.tds[i].Get(key)), tensor.Must(got.Get(key)), key)
			}
			ruin(t, got)
			for _, td := range tt.tds {
				require.NotContains(t, keys(td), nestedkey.Key("ruin"), "the structure is new")
			}
		})
	}
}

// Choose is asked about keys in full that several have, with their values in order, and no others.
func TestMergeAsks(t *testing.T) {
	x, y, z := count(2), count(2), dict([]int{2}, entry{"p", count(2)})
	tds := []*tdict.TensorDict{
		dict([]int{2}, entry{"a/b/x", x}, entry{"a/only", x}, entry{"v", x}),
		dict([]int{2}, entry{"a/b", tdict.New(2)}, entry{"v", z}),
		dict([]int{2}, entry{"a/b/x", y}, entry{"v", y}),
	}
	asked := map[nestedkey.Key][]tdict.Value{}
	choose := func(key nestedkey.Key, vs []tdict.Value) (tdict.Value, error) {
		asked[key] = vs
		return vs[0], nil
	}
	_, err := tdict.Merge(tds, tdict.MergeOptions{Choose: choose})
	require.NoError(t, err)
	require.Len(t, asked, 2)
	for key, want := range map[nestedkey.Key][]tdict.Value{"a/b/x": {x, y}, "v": {x, z, y}} {
		require.Len(t, asked[key], len(want), key)
		for i := range want {
			require.Same(t, want[i], asked[key][i], key)
		}
	}
}

// A dictionary that is set without entries has the batch shape of the one around it.
func TestNewDictionaries(t *testing.T) {
	tests := []struct {
		name  string
		key   nestedkey.Key
		batch shapeops.Shape
	}{
		{"here", "new", shapeops.Shape{3}},
		{"with the dictionaries around it", "x/y/z", shapeops.Shape{3}},
		{"within a longer batch shape", "b/x/y", shapeops.Shape{3, 4}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := sample()
			require.NoError(t, td.SetNames("row"))
			require.NoError(t, td.Set(tt.key, tdict.New(td.Shape()...)))
			got := tensor.Must(td.Dict(tt.key))
			require.Equal(t, tt.batch, got.Shape())
			require.Equal(t, "row", got.Names()[0])
			require.Zero(t, got.NumEntries())
			consistent(t, td)
		})
	}
	require.NoError(t, tdict.New().Set(path(256), tdict.New()))
	require.ErrorIs(t, tdict.New().Set(path(257), tdict.New()), tdict.ErrDepth)
}

// UpdateInPlace writes to the memory of td, through a lock, and takes nothing over.
func TestUpdateInPlace(t *testing.T) {
	nines := func() *tdict.TensorDict {
		td := tensor.Must(forest().Clone())
		require.NoError(t, td.SetIndex(tensor.Scalar[int64](9)))
		return td
	}
	tests := []struct {
		name string
		keys keyList
		want keyList // leaves that become nines
	}{
		{"all leaves without keys", nil, keyList{"z", "a/x", "a/y/p", "a/y/q", "b/c"}},
		{"a leaf", keyList{"a/x"}, keyList{"a/x"}},
		{"a dictionary, and a part of it", keyList{"a/y/p", "a/y"}, keyList{"a/y/p"}},
		{"a dictionary without entries", keyList{"a/e"}, keyList{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td, other := frozenForest(), nines()
			view := tensor.Must(td.Index(ix.Range(0, 1)))
			testkit.Unchanged(t, other, state, func() { require.NoError(t, td.UpdateInPlace(other, tt.keys...)) })
			for key := range td.Tensors() {
				want := []int64{0, 1}
				if slices.Contains(tt.want, key) {
					want = []int64{9, 9}
				}
				require.Equal(t, want, values(t, td, key), key)
				require.Equal(t, want[:1], values(t, view, key), "what shares the memory sees it")
				require.False(t, tensor.Must(td.Tensor(key)).SharesMemory(tensor.Must(other.Tensor(key))))
			}
		})
	}
}

func TestUpdateInPlaceOfOtherKinds(t *testing.T) {
	td, other := kinds(), kinds()
	name := tensor.Must(td.Get("name"))
	require.NoError(t, other.SetIndex(dict([]int{3}, entry{"name", texts("p", "q", "r")}, entry{"d/label", texts("7", "8", "9")})))
	require.NoError(t, td.UpdateInPlace(other))
	require.True(t, td.Equal(other))
	require.Same(t, name, tensor.Must(td.Get("name")), "data changes in place")

	require.NoError(t, other.Set("w", unbatched(ones(2))))
	testkit.Unchanged(t, td, state, func() { testkit.Fails(t, tdict.ErrDiffers, td.UpdateInPlace(other)) })
	require.NoError(t, td.UpdateInPlace(td), "onto itself")
	scalar := dict(nil, entry{"x", tensor.Scalar[int64](1)})
	require.NoError(t, scalar.UpdateInPlace(dict(nil, entry{"x", tensor.Scalar[int64](2)})))
	require.Equal(t, []int64{2}, values(t, scalar, "x"))
}

// Nothing is written if the memory of a later leaf is gone, or may not be written.
func TestUpdateInPlaceIsAtomic(t *testing.T) {
	lent := func(l *testkit.Lender) *tdict.TensorDict {
		l.Bytes = make([]byte, 16)
		return dict([]int{2}, entry{"a", count(2)}, entry{"lent", tensor.Must(tensor.FromLender(tensor.Int64, l, 0, 2))})
	}
	other := dict([]int{2}, entry{"a", ones(2)}, entry{"lent", ones(2)})
	for name, l := range map[string]*testkit.Lender{"gone": {Fail: errStop}, "read-only": {Locked: true}} {
		td := lent(l)
		require.Error(t, td.UpdateInPlace(other), name)
		require.Equal(t, []int64{0, 1}, values(t, td, "a"), name)
	}
}

// A copy that is updated leaves the dictionary as it is.
func TestUpdateOfACopy(t *testing.T) {
	other := dict([]int{2}, entry{"new/x", count(2)}, entry{"a/x", count(2)}, entry{"b", count(2)})
	updated := forest()
	require.NoError(t, updated.Update(other))
	td := frozenForest()
	testkit.Unchanged(t, td, state, func() {
		got := td.Copy()
		require.NoError(t, got.Update(other))
		require.Equal(t, keys(updated), keys(got))
		require.Same(t, tensor.Must(other.Get("a/x")), tensor.Must(got.Get("a/x")))
		require.Same(t, tensor.Must(td.Get("a/y/p")), tensor.Must(got.Get("a/y/p")))
		require.False(t, got.Locked())
		consistent(t, got)
	})
}

func TestClear(t *testing.T) {
	td, view := forest(), tensor.Must(forest().Index())
	inner, copied := tensor.Must(td.Dict("a")), td.Copy()
	require.NoError(t, td.Clear())
	require.Equal(t, keyList{}, keys(td))
	require.Equal(t, shapeops.Shape{2}, td.Shape())
	require.Equal(t, keys(forest()), keys(copied))
	require.Equal(t, keys(forest()), keys(view))
	require.Equal(t, 3, inner.NumEntries(), "dictionaries that were in it keep their entries")
	require.NoError(t, td.Set("x", count(2)))
	require.NoError(t, new(tdict.TensorDict).Clear())
}

// What an operation on keys makes is its own at every depth and unlocked, with the leaves
// themselves.
func TestKeyOperationsShareLeavesOnly(t *testing.T) {
	type maker = func(td *tdict.TensorDict) (*tdict.TensorDict, error)
	part := func(i int, sets ...keyList) maker {
		return func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
			parts, err := tdict.SplitKeys(td, sets...)
			return parts[i], err
		}
	}
	for name, make := range map[string]maker{
		"split keys":         part(0, keyList{"a"}),
		"split keys, within": part(0, keyList{"a/y"}, keyList{"a/x"}),
		"split keys, rest":   part(1, keyList{"a/x"}),
		"merge of one": func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
			return tdict.Merge([]*tdict.TensorDict{td}, tdict.MergeOptions{})
		},
		"merge with itself": func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
			return tdict.Merge([]*tdict.TensorDict{td, td}, tdict.MergeOptions{})
		},
		"filter empty": func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.FilterEmpty(), nil },
		"sort keys":    func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.SortKeys(), nil },
		"update with some keys": func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
			out := tdict.New(2)
			return out, updatedWith(out, td, "a", "b/c")
		},
	} {
		t.Run(name, func(t *testing.T) {
			td := frozenForest()
			var got *tdict.TensorDict
			testkit.Unchanged(t, td, state, func() {
				var err error
				got, err = make(td)
				require.NoError(t, err)
				consistent(t, got)
				require.False(t, got.IsEmpty())
				for key, leaf := range got.Leaves() {
					require.Same(t, tensor.Must(td.Get(key)), leaf, key)
				}
				ruin(t, got.Copy())
				require.False(t, slices.ContainsFunc(dicts(got), (*tdict.TensorDict).Locked))
			})
			was := keys(got)
			require.NoError(t, td.Unlock())
			ruin(t, td)
			require.Equal(t, was, keys(got))
		})
	}
	td, inner := forest(), forest()
	inner.Lock()
	require.NoError(t, td.Set("locked", inner))
	got := tensor.Must(td.Separate("locked"))
	require.False(t, tensor.Must(got.Dict("locked")).Locked(), "what is taken out is a copy")
	require.Same(t, tensor.Must(inner.Get("z")), tensor.Must(got.Get("locked/z")))
}

// A flat dictionary is its values by key, with nil for a dictionary.
type flat map[string]tdict.Value

func flatOf(td *tdict.TensorDict) flat {
	f := flat{}
	for _, key := range keys(td) {
		v := tensor.Must(td.Get(key))
		if _, ok := v.(*tdict.TensorDict); ok {
			v = nil
		}
		f[string(key)] = v
	}
	return f
}

// under reports whether a key is one of others or below one.
func under(key string, others keyList) bool {
	return slices.ContainsFunc(others, func(other nestedkey.Key) bool { return nestedkey.Key(key).HasPrefix(other) })
}

// around reports whether a key is above one of others.
func around(key string, others keyList) bool {
	return slices.ContainsFunc(others, func(other nestedkey.Key) bool {
		return string(other) != key && other.HasPrefix(nestedkey.Key(key))
	})
}

// only returns the part of f whose keys keep chooses.
func (f flat) only(keep func(key string) bool) flat {
	out := flat{}
	for key, v := range f {
		if keep(key) {
			out[key] = v
		}
	}
	return out
}

// sorted yields the keys of several, a dictionary before what is in it.
func sorted(all ...flat) iter.Seq[string] {
	var list keyList
	for _, f := range all {
		for key := range f {
			list = append(list, nestedkey.Key(key))
		}
	}
	slices.SortFunc(list, nestedkey.Compare)
	return func(yield func(string) bool) {
		for _, key := range slices.Compact(list) {
			if !yield(string(key)) {
				return
			}
		}
	}
}

func (f flat) has(keys ...nestedkey.Key) bool {
	return !slices.ContainsFunc(keys, func(key nestedkey.Key) bool { _, ok := f[string(key)]; return !ok })
}

// narrow returns keys without dictionaries of which a longer key names a part, each once.
func narrow(keys keyList) (out keyList) {
	for _, key := range keys {
		longer := func(other nestedkey.Key) bool { return other != key && other.HasPrefix(key) }
		if !slices.ContainsFunc(keys, longer) && !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}

// overlap reports whether one of keys is there twice, or below another.
func overlap(keys keyList) bool {
	for i, key := range keys {
		for j, other := range keys {
			if i != j && key.HasPrefix(other) {
				return true
			}
		}
	}
	return false
}

// rest is what is left of f without some keys, and without the dictionaries that became empty.
func (f flat) rest(chosen keyList) flat {
	left := f.only(func(key string) bool { return !under(key, chosen) })
	return left.only(func(key string) bool {
		if !around(key, chosen) {
			return true
		}
		for other := range left {
			if other != key && nestedkey.Key(other).HasPrefix(nestedkey.Key(key)) && !around(other, chosen) {
				return true
			}
		}
		return false
	})
}

func (f flat) updated(other flat) flat {
	out := f.only(func(string) bool { return true })
	for key := range sorted(other) {
		if old, ok := out[key]; !ok || old != nil || other[key] != nil {
			out = out.only(func(k string) bool { return !under(k, keyList{nestedkey.Key(key)}) })
			out[key] = other[key]
		}
	}
	return out
}

// merged is the naive Merge: the dictionaries that count at a key are those that counted above it.
func merged(all []flat) flat {
	out, count := flat{}, map[string][]flat{}
	for key := range sorted(all...) {
		from := all
		if up, nested := nestedkey.Key(key).Parent(); nested {
			from = count[string(up)]
		}
		from = slices.DeleteFunc(slices.Clone(from), func(f flat) bool { return !f.has(nestedkey.Key(key)) })
		if len(from) == 0 {
			continue
		}
		if slices.ContainsFunc(from, func(f flat) bool { return f[key] != nil }) {
			from = from[:1]
		}
		out[key], count[key] = from[0][key], from
	}
	return out
}

// wood returns a random dictionary with few names at each depth, so that keys meet.
func wood(g *rand.Rand) *tdict.TensorDict {
	td := tdict.New(2)
	for range g.IntN(14) {
		var v tdict.Value = count(2)
		if g.IntN(4) == 0 {
			v = tdict.New(2)
		}
		_ = td.Set(someKey(g), v) // what leads through a leaf is left out
	}
	return td
}

func someKey(g *rand.Rand) nestedkey.Key {
	parts := []string{"", "a", "b", "/", "~", "c"}
	key := nestedkey.Of(parts[g.IntN(6)])
	for range g.IntN(3) {
		key = nestedkey.Join(key, nestedkey.Of(parts[g.IntN(6)]))
	}
	return key
}

// somePresent returns up to n random keys, mostly of td.
func somePresent(g *rand.Rand, td *tdict.TensorDict, n int) keyList {
	all, out := keys(td), keyList{}
	for range g.IntN(n + 1) {
		if len(all) > 0 && g.IntN(12) > 0 {
			out = append(out, all[g.IntN(len(all))])
		} else {
			out = append(out, someKey(g))
		}
	}
	return out
}

// TestKeyOperationsModel does each operation on keys to random dictionaries, and the same to their
// values by key: both fail, or both have the same in the end.
func TestKeyOperationsModel(t *testing.T) {
	same := func(want flat, td *tdict.TensorDict, about string, args ...any) {
		t.Helper()
		got := flatOf(td)
		about = fmt.Sprintf(about, args...)
		require.Len(t, got, len(want), about)
		for key, v := range want {
			w, ok := got[key]
			require.True(t, ok && v == w, "%s: %q", about, key)
		}
		consistent(t, td)
	}
	done := map[string]int{}
	outcome := func(what string, ok bool, err error) bool {
		t.Helper()
		require.Equal(t, ok, err == nil, "%s: %v", what, err)
		require.True(t, classified(err), "%v", err)
		if ok {
			done[what]++
		}
		return ok
	}
	seeds := longtests.Times(700, 3000)
	for seed := range uint64(seeds) {
		g := rand.New(rand.NewPCG(seed, 6))
		td, other := wood(g), wood(g)
		f, of := flatOf(td), flatOf(other)

		sets := []keyList{somePresent(g, td, 2), somePresent(g, td, 2)}
		both := slices.Concat(narrow(sets[0]), narrow(sets[1]))
		parts, err := tdict.SplitKeys(td, sets...)
		if outcome("split keys", f.has(slices.Concat(sets...)...) && !overlap(both), err) {
			for i, set := range sets {
				set = narrow(set)
				same(f.only(func(key string) bool { return under(key, set) || around(key, set) }), parts[i], "seed %d: set %d of %v", seed, i, sets)
			}
			same(f.rest(both), parts[2], "seed %d: rest of %v", seed, sets)
		}
		same(f, td, "seed %d: split keys", seed)

		taken := somePresent(g, td, 3)
		own := td.Copy()
		out, err := own.Separate(taken...)
		if outcome("separate", f.has(taken...), err) {
			taken = narrow(taken)
			same(f.only(func(key string) bool { return under(key, taken) || around(key, taken) }), out, "seed %d: separate %v", seed, taken)
			same(f.only(func(key string) bool { return !under(key, taken) }), own, "seed %d: without %v", seed, taken)
		} else {
			same(f, own, "seed %d: refused %v", seed, taken)
		}

		third := wood(g)
		out, err = tdict.Merge([]*tdict.TensorDict{td, other, third}, tdict.MergeOptions{})
		outcome("merge", true, err)
		same(merged([]flat{f, of, flatOf(third)}), out, "seed %d: merge", seed)

		chosen := somePresent(g, other, 1)
		own = td.Copy()
		if outcome("update with some keys", of.has(chosen...), updatedWith(own, other, chosen...)) {
			part := of.only(func(key string) bool { return under(key, chosen) || around(key, chosen) })
			same(f.updated(part), own, "seed %d: update with %v", seed, chosen)
		} else {
			same(f, own, "seed %d: refused %v", seed, chosen)
		}

		own = td.Copy()
		outcome("update", true, own.Update(other))
		same(f.updated(of), own, "seed %d: update", seed)

		full := f.only(func(key string) bool {
			for other, v := range f {
				if v != nil && nestedkey.Key(other).HasPrefix(nestedkey.Key(key)) {
					return true
				}
			}
			return false
		})
		same(full, td.FilterEmpty(), "seed %d: filter empty", seed)
		require.Equal(t, len(full) == 0, td.IsEmpty())

		same(f, td.SortKeys(), "seed %d: sort keys", seed)
		require.True(t, slices.IsSortedFunc(keys(td.SortKeys()), nestedkey.Compare))
	}
	for what, n := range done {
		require.Greater(t, n, seeds/5, "%s is hardly tested", what)
	}
}

func TestRows(t *testing.T) {
	td := kinds()
	for range 2 { // it can be ranged again
		i := 0
		for row, err := range td.Rows() {
			require.NoError(t, err)
			require.True(t, tensor.Must(td.Index(ix.At(i))).Equal(row))
			require.True(t, tensor.Must(row.Tensor("x")).SharesMemory(tensor.Must(td.Tensor("x"))), "rows are views")
			require.NoError(t, row.Clear())
			i++
		}
		require.Equal(t, 3, i)
	}
	for range td.Rows() {
		break
	}
	for range tdict.New(0, 2).Rows() {
		t.Error("got a row of none")
	}
	n := 0
	for row, err := range tdict.New().Rows() {
		n++
		require.Nil(t, row)
		testkit.Fails(t, shapeops.ErrDim, err)
	}
	require.Equal(t, 1, n)
}

// An error ends the rows.
func TestRowsOfWhatIsTooDeep(t *testing.T) {
	td := tdict.New(2)
	for d, i := td, 0; i <= tdict.MaxDepth; i++ {
		require.NoError(t, d.Set("d", tdict.New(2)))
		d = tensor.Must(d.Dict("d"))
	}
	n := 0
	for row, err := range td.Rows() {
		n++
		require.True(t, row == nil)
		require.ErrorIs(t, err, tdict.ErrDepth)
	}
	require.Equal(t, 1, n)
}

func TestHead(t *testing.T) {
	gone := tensor.Must(tensor.FromLender(tensor.Int64, &testkit.Lender{Fail: errors.New("closed:\nthe file of a thousand words")}, 0, 3, 2))
	tests := []struct {
		name string
		td   *tdict.TensorDict
		n    int
		want string
	}{
		{"a line for keys and one for each row", dict([]int{3}, entry{"obs/pos", count(3, 2)}, entry{"done", tensor.Vector(true, false, true)}), 2,
			"obs/pos  done\n[0 1]    true\n[2 3]    false\n1 row more"},
		{"more than there are", dict([]int{2}, entry{"x", count(2)}), 9, "x\n0\n1"},
		{"none are the keys only", dict([]int{2}, entry{"x", count(2)}, entry{"w", unbatched(count(2))}), 0, "x"},
		{"less than none", dict([]int{2}, entry{"x", count(2)}), -1, "x"},
		{"no rows", dict([]int{0}, entry{"x", count(0, 2)}), 3, "x"},
		{"the one row of no batch dim", dict(nil, entry{"x", count(4)}, entry{"y", tensor.Scalar(0.5)}), 3, "x            y\n[0 1 2 ...]  0.5"},
		{"further batch dims are elements", dict([]int{2, 2}, entry{"x", count(2, 2)}), 1, "x\n[0 1]\n1 row more"},
		{"the first elements, row-major", dict([]int{2}, entry{"x", count(2, 3, 1, 2)}), 2, "x\n[0 1 2 ...]\n[6 7 8 ...]"},
		{"no elements", dict([]int{1}, entry{"x", count(1, 0, 2)}, entry{"y", count(1, 2, 0)}), 1, "x   y\n[]  []"},
		{"long elements: as many as fit", dict([]int{2}, entry{"x", tensor.Must(tensor.From([]float64{1. / 3, 2. / 3, 1, 1, 2, 3}, 2, 3))}), 2,
			"x\n[0.3333333333333333 ...]\n[1 2 3]"},
		{"a long element is cut", dict(nil, entry{"x", tensor.Vector(complex(1./3, 2./3))}), 1, "x\n[(0.3333333333333333+..."},
		{"data as JSON", dict([]int{2}, entry{"s", texts("a\tb\n", "é")}, entry{"v", tensor.Must(tdict.DataFrom([]any{nil, map[string]any{"k": []any{1}}}, 2))}), 2,
			"s         v\n\"a\\tb\\n\"  null\n\"é\"       {\"k\":[1]}"},
		{"data of further dims", dict([]int{1}, entry{"s", data("x", 1, 4)}, entry{"t", tensor.Must(tdict.DataFrom([]any{1, 2}, 1, 2))}), 1,
			"s                  t\n[\"x\" \"x\" \"x\" ...]  [1 2]"},
		{"long data is cut", dict([]int{1}, entry{"s", data(strings.Repeat("é", 1000), 1)}), 1, "s\n\"" + strings.Repeat("é", 20) + "..."},
		{"what does not print is a blank", dict([]int{1}, entry{"s", data("a\u202eb", 1)}), 1, "s\n\"a b\""},
		{"unbatched leaves are counted", kinds(), 1, "name  x      d/label  d/y\n\"a\"   [0 1]  1        0\n2 rows more\nand 1 more leaf"},
		{"leaves after the eighth are counted", wide(11, 1), 0,
			"leaf00  leaf01  leaf02  leaf03  leaf04  leaf05  leaf06  leaf07"},
		{"a leaf that cannot be read", dict([]int{3}, entry{"gone", gone}, entry{"x", count(3)}), 2,
			"gone                      x\nclosed: the file of a...  0\nclosed: the file of a...  1\n1 row more"},
		{"a long key is cut, one that does not print quoted", dict([]int{1}, entry{"a/long/key/of/many/parts/x", count(1)}, entry{"\n", count(1)}), 1,
			"a/long/key/of/many/pa...  \"\\n\"\n0                         0"},
		{"no leaves", tdict.New(3), 2, "no leaves"},
		{"only unbatched leaves", dict([]int{3}, entry{"w", unbatched(count(2))}, entry{"v", unbatched(count(2))}), 2, "and 2 more leaves"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.td.Head(tt.n)) })
	}
	require.Contains(t, wide(11, 3).Head(1), "\n2 rows more\nand 3 more leaves")
}

// Head looks at no more elements than it shows, however many there are.
func TestHeadReadsOnlyWhatItShows(t *testing.T) {
	const n = 1 << 30
	huge := dict([]int{n}, entry{"x", tensor.Must(tensor.Scalar(1.5).Expand(n, n))}, entry{"s", data("x", n, 1<<20)})
	testkit.MaxBytes(t, 1<<16, func() {
		require.Equal(t, "x                  s\n[1.5 1.5 1.5 ...]  [\"x\" \"x\" \"x\" ...]\n1073741823 rows more", huge.Head(1))
	})
	lent := &testkit.Lender{Bytes: make([]byte, 1<<24)}
	td := dict([]int{1 << 20}, entry{"x", tensor.Must(tensor.FromLender(tensor.Int64, lent, 0, 1<<20, 2))})
	testkit.MaxBytes(t, 1<<16, func() { _ = td.Head(2) })
	require.Zero(t, lent.Borrowed())
	require.Zero(t, lent.Pinned())
}

// keyBulks are what is done to keys of all n entries of a dictionary, in proportion to n.
var keyBulks = []bulk{
	{"split-keys", func(n int) func() error {
		td, all := manyLeaves(n)
		return func() error { return testkit.Err(tdict.SplitKeys(td, all[:n/2], all[n/2:n-n/4])) }
	}},
	{"split-keys-each", func(n int) func() error {
		td := grouped(n)
		var sets []keyList
		for key := range td.Leaves() {
			sets = append(sets, keyList{key})
		}
		return func() error { return testkit.Err(tdict.SplitKeys(td, sets...)) }
	}},
	{"separate", func(n int) func() error {
		td, all := manyLeaves(n)
		return func() error { return testkit.Err(td.Separate(shuffled(all)[:n/2]...)) }
	}},
	{"merge-two", func(n int) func() error {
		a, b := grouped(n), grouped(n)
		return func() error { return testkit.Err(tdict.Merge([]*tdict.TensorDict{a, b}, tdict.MergeOptions{})) }
	}},
	{"merge-many", func(n int) func() error {
		td, all := manyLeaves(n)
		tds := make([]*tdict.TensorDict, n)
		for i, key := range all {
			tds[i] = td.SelectPresent(key)
		}
		return func() error { return testkit.Err(tdict.Merge(tds, tdict.MergeOptions{})) }
	}},
	{"merge-choosing", func(n int) func() error {
		td := grouped(n)
		return func() error { return testkit.Err(tdict.Merge([]*tdict.TensorDict{td, td}, choosing(one, nil))) }
	}},
	{"filter-empty", func(n int) func() error {
		td := grouped(n)
		return func() error { td.FilterEmpty(); return nil }
	}},
	{"sort-keys", func(n int) func() error {
		td := grouped(n)
		return func() error { td.SortKeys(); return nil }
	}},
	{"update-keys", func(n int) func() error {
		td, all := manyLeaves(n)
		return func() error { return updatedWith(tdict.New(), td, all...) }
	}},
	{"update-in-place", func(n int) func() error {
		a := numbered(nil, n, func(int) *tensor.Tensor { return tensor.Scalar[int8](2) })
		b, all := manyLeaves(n)
		return func() error { return a.UpdateInPlace(b, all...) }
	}},
	{"head", func(n int) func() error {
		td := grouped(n)
		return func() error { _ = td.Head(5); return nil }
	}},
	{"rows", func(n int) func() error {
		td := dict([]int{n}, entry{"x", count(n)})
		return func() error {
			for _, err := range td.Rows() {
				if err != nil {
					return err
				}
			}
			return nil
		}
	}},
}

// Ops on all keys of a large dictionary allocate in proportion to them.
func TestKeyOperationsAllocateInProportion(t *testing.T) {
	for _, b := range keyBulks {
		t.Run(b.name, func(t *testing.T) {
			checked := func(n int) func() { run := b.prepare(n); return func() { require.NoError(t, run()) } }
			n := longtests.Times(300, 800)
			testkit.Near(t, 30, checked(n), checked(10*n))
		})
	}
}

// A negative batch shape leads to errors, never to a panic.
func TestKeyOperationsOnANegativeBatchShape(t *testing.T) {
	td := tdict.New(-1)
	require.ErrorIs(t, td.UpdateInPlace(tdict.New(-1)), shapeops.ErrShape)
	require.Equal(t, "no leaves", td.Head(2))
	for range td.Rows() {
		t.Error("got a row")
	}
	require.Len(t, tensor.Must(tdict.SplitKeys(td, nil)), 2)
}

// What is nested deep costs what its keys are long.
func TestDeepKeyOperations(t *testing.T) {
	td := topDown(4000)
	require.False(t, td.IsEmpty())
	for name, got := range map[string]*tdict.TensorDict{
		"filter empty": td.FilterEmpty(), "sort keys": td.SortKeys(),
		"merge": tensor.Must(tdict.Merge([]*tdict.TensorDict{td, td}, tdict.MergeOptions{})),
		"split": tensor.Must(tdict.SplitKeys(td, keyList{"x"}))[1],
	} {
		require.True(t, got.Has(path(3999)), name)
	}
	_ = td.Head(1)
}

// A key and a longer key below it are read by one rule wherever keys choose entries: the longer key
// says which part is taken. Exclude drops what any of its keys names.
func TestOverlappingKeys(t *testing.T) {
	from := func(v int8) *tdict.TensorDict {
		return dict(nil, entry{"a/b", tensor.Scalar(v)}, entry{"a/c", tensor.Scalar(v)}, entry{"a/d/e", tensor.Scalar(v)}, entry{"z", tensor.Scalar(v)})
	}
	all := keyList{"a/b", "a/c", "a/d/e", "z"}
	tests := []struct {
		name        string
		keys, taken keyList
	}{
		{"a dictionary", keyList{"a"}, keyList{"a/b", "a/c", "a/d/e"}},
		{"a longer key after it", keyList{"a", "a/b"}, keyList{"a/b"}},
		{"a longer key before it", keyList{"a/b", "a"}, keyList{"a/b"}},
		{"two longer keys", keyList{"a/b", "a", "a/d"}, keyList{"a/b", "a/d/e"}},
		{"three depths", keyList{"a", "a/d", "a/d/e", "z"}, keyList{"a/d/e", "z"}},
		{"a key twice", keyList{"z", "a/b", "z"}, keyList{"a/b", "z"}},
	}
	lacking := from(1).SelectPresent("a", "a/x", "y", "z")
	require.Equal(t, keyList{"a", "z"}, slices.Collect(lacking.NestedKeys()), "a key that is absent names a part too")
	// ones returns the keys of the leaves that are 1.
	ones := func(td *tdict.TensorDict) (found keyList) {
		for _, key := range all {
			if v, err := tdict.Item[int8](td, key); err == nil && v == 1 {
				found = append(found, key)
			}
		}
		return found
	}
	one := func(key, []*tensor.Tensor) (*tensor.Tensor, error) { return tensor.Scalar[int8](1), nil }
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.taken, ones(tensor.Must(from(1).Select(tt.keys...))), "Select")
			require.Equal(t, tt.taken, ones(from(1).SelectPresent(tt.keys...)), "SelectPresent")
			to := from(0)
			require.NoError(t, to.UpdateInPlace(from(1), tt.keys...))
			require.Equal(t, tt.taken, ones(to), "UpdateInPlace")
			applied := tensor.Must(tdict.Apply(t.Context(), []dictionary{from(0)}, one, tdict.ApplyOptions{Keys: tt.keys}))
			require.Equal(t, tt.taken, ones(applied), "Apply")
			parts := tensor.Must(tdict.SplitKeys(from(1), tt.keys))
			require.Equal(t, tt.taken, ones(parts[0]), "SplitKeys")
			require.Len(t, ones(parts[1]), len(all)-len(tt.taken), "SplitKeys")
			rest := from(1)
			require.Equal(t, tt.taken, ones(tensor.Must(rest.Separate(tt.keys...))), "Separate")
			require.Equal(t, ones(parts[1]), ones(rest), "Separate")
		})
	}
}

// Leaves of any kind keep a dictionary from being empty.
func TestFilterEmptyKeepsLeavesOfAnyKind(t *testing.T) {
	td := dict([]int{2}, entry{"d", tdict.New(2)}, entry{"e/f", tdict.New(2)}, entry{"e/x", data("x", 2)}, entry{"w", unbatched(count(1))})
	require.Equal(t, keyList{"e", "e/x", "w"}, keys(td.FilterEmpty()))
	require.False(t, td.IsEmpty())
}
