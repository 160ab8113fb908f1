package transform_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

func TestOnKeysSeesOnlyThem(t *testing.T) {
	var seen []nestedkey.Key
	look := transform.Func("look", func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		for key := range td.Leaves() {
			seen = append(seen, key)
		}
		return td, nil
	})
	td := images(t, 2)
	out := apply(t, transform.OnKeys(look, "label", "obs/depth", "note"), td, transform.Draw{})
	require.ElementsMatch(t, []nestedkey.Key{"label", "obs/depth", "note"}, seen)
	require.True(t, out.Equal(td))
	seen = nil
	apply(t, transform.OnKeys(look, "obs"), td, transform.Draw{})
	require.Equal(t, []nestedkey.Key{"obs/depth"}, seen)
}

// TestOnKeysPutsBack: what t returns takes the place of what it was given.
func TestOnKeysPutsBack(t *testing.T) {
	one, two := tensor.Vector[int64](1, 1), tensor.Vector[int64](2, 2)
	type entries []struct {
		key nestedkey.Key
		x   *tensor.Tensor
	}
	of := func(all entries) *tdict.TensorDict {
		td := tdict.New(2)
		for _, e := range all {
			require.NoError(t, td.Set(e.key, e.x))
		}
		return td
	}
	whole := entries{{"a", one}, {"in/b", one}, {"in/c", one}, {"d", one}}
	tests := []struct {
		name       string
		keys       []nestedkey.Key
		made, want entries
	}{
		{"another value keeps its place", []nestedkey.Key{"a"}, entries{{"a", two}}, entries{{"a", two}, {"in/b", one}, {"in/c", one}, {"d", one}}},
		{"a nested key", []nestedkey.Key{"in/b"}, entries{{"in/b", two}}, entries{{"a", one}, {"in/b", two}, {"in/c", one}, {"d", one}}},
		{"a key dropped", []nestedkey.Key{"a", "in/c"}, entries{{"a", two}}, entries{{"a", two}, {"in/b", one}, {"d", one}}},
		{"a key added", []nestedkey.Key{"a"}, entries{{"a", one}, {"in/e", two}}, entries{{"a", one}, {"in/b", one}, {"in/c", one}, {"in/e", two}, {"d", one}}},
		{"a key renamed", []nestedkey.Key{"a"}, entries{{"e", one}}, entries{{"in/b", one}, {"in/c", one}, {"d", one}, {"e", one}}},
		{"a dictionary", []nestedkey.Key{"in"}, entries{{"in/e", two}}, entries{{"a", one}, {"in/e", two}, {"d", one}}},
		{"a dictionary dropped", []nestedkey.Key{"in"}, nil, entries{{"a", one}, {"d", one}}},
		{"a dictionary for a leaf", []nestedkey.Key{"a"}, entries{{"a/x", two}}, entries{{"a/x", two}, {"in/b", one}, {"in/c", one}, {"d", one}}},
		{"no keys", nil, entries{{"e", two}}, entries{{"a", one}, {"in/b", one}, {"in/c", one}, {"d", one}, {"e", two}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := apply(t, transform.OnKeys(returning(of(tt.made)), tt.keys...), of(whole), transform.Draw{})
			require.Equal(t, of(tt.want).String(), out.String(), "the order")
			require.True(t, of(tt.want).Equal(out))
		})
	}
}

func TestOnKeysRefuses(t *testing.T) {
	with := func(key nestedkey.Key) transform.Transform {
		td := tdict.New(2)
		require.NoError(t, td.Set(key, tensor.Vector[int64](1, 2)))
		return returning(td)
	}
	none := transform.Compose()
	tests := []struct {
		name string
		t    transform.Transform
		is   error
	}{
		{"a missing key", transform.OnKeys(none, "label", "obs/nothing"), tdict.ErrMissing},
		{"a key through a leaf", transform.OnKeys(none, "label/in"), tdict.ErrNotDict},
		{"a key that is there", transform.OnKeys(with("mask"), "label"), tdict.ErrExists},
		{"a key through another leaf", transform.OnKeys(with("mask/in"), "label"), tdict.ErrNotDict},
		{"another batch shape", transform.OnKeys(returning(tdict.New(3)), "label"), shapeops.ErrShape},
		{"a nil transform", transform.OnKeys(nil, "label"), tdict.ErrKind},
		{"no result", transform.OnKeys(returning(nil), "label"), tdict.ErrKind},
		{"an error", transform.OnKeys(failing(errTest), "label"), errTest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := images(t, 2)
			td.Lock()
			testkit.Fails(t, tt.is, testkit.Err(tt.t.Apply(td, transform.Draw{})))
		})
	}
}
