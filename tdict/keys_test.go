package tdict_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

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
	leaves := func(td *tdict.TensorDict) list {
		return slices.AppendSeq(list{}, td.LeafKeys())
	}
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
