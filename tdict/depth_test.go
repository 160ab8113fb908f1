package tdict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// chain returns so many dictionaries, each but the last with the next as its entry, with a leaf in
// the last if it is wanted.
func chain(n int, leaf tdict.Value) *tdict.TensorDict {
	td := tdict.New()
	if leaf != nil {
		td = dict(nil, entry{"x", leaf})
	}
	for range n - 1 {
		td = dict(nil, entry{"d", td})
	}
	return td
}

// path returns a key of so many parts.
func path(parts int) nestedkey.Key {
	return nestedkey.Key(strings.TrimSuffix(strings.Repeat("d/", parts), "/"))
}

// Below a dictionary, others may be nested 256 deep, whichever way they come there; a leaf does not
// count.
func TestDepthLimit(t *testing.T) {
	x := count(1)
	tests := []struct {
		name string
		do   func(td *tdict.TensorDict) error
		ok   bool
	}{
		{"a leaf in 256 dictionaries", func(td *tdict.TensorDict) error { return td.Set(path(257), x) }, true},
		{"a leaf in 257", func(td *tdict.TensorDict) error { return td.Set(path(258), x) }, false},
		{"a leaf under parts without a letter", func(td *tdict.TensorDict) error { return td.Set(nestedkey.Key(strings.Repeat("/", 256)), x) }, true},
		{"one part more", func(td *tdict.TensorDict) error { return td.Set(nestedkey.Key(strings.Repeat("/", 257)), x) }, false},
		{"dictionary 256", func(td *tdict.TensorDict) error { return td.Set(path(256), tdict.New()) }, true},
		{"dictionary 257", func(td *tdict.TensorDict) error { return td.Set(path(257), tdict.New()) }, false},
		{"256 as one value", func(td *tdict.TensorDict) error { return td.Set("d", chain(256, x)) }, true},
		{"257 as one value", func(td *tdict.TensorDict) error { return td.Set("d", chain(257, x)) }, false},
		{"128 below 128", func(td *tdict.TensorDict) error { return td.Set(path(129), chain(128, x)) }, true},
		{"129 below 128", func(td *tdict.TensorDict) error { return td.Set(path(129), chain(129, x)) }, false},
		{"update with 256", func(td *tdict.TensorDict) error { return td.Update(dict(nil, entry{"d", chain(256, x)})) }, true},
		{"set index that creates 257", func(td *tdict.TensorDict) error {
			value := chain(200, nil) // grown from within, where the limit counts from there
			if err := tensor.Must(value.Dict(path(199))).Set("d", chain(58, x)); err != nil {
				return err
			}
			return td.SetIndexWith(value, create)
		}, false},
		{"rename to 257", func(td *tdict.TensorDict) error {
			if err := td.Set("v", chain(2, x)); err != nil {
				return err
			}
			err := td.Rename("v", path(256))
			return errorsJoin(err, td.Delete("v"))
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := dict(nil, entry{"own", x})
			before := slices.Collect(td.NestedKeys())
			err := tt.do(td)
			if !tt.ok {
				require.ErrorIs(t, err, tdict.ErrDepth)
				require.Equal(t, before, slices.Collect(td.NestedKeys()))
				return
			}
			require.NoError(t, err)
			require.NoError(t, testkit.Err(td.Index()), "what may be set can be worked on")
			require.True(t, tensor.Must(td.Clone()).Equal(td))
			require.NotEmpty(t, td.String())
		})
	}
}

// Dictionaries that are there many times are looked at once: 2^24 ways lead through these 25.
func TestSharedDictionariesAreLookedAtOnce(t *testing.T) {
	leaf := dict(nil, entry{"x", count(1)})
	td := leaf
	for range 24 {
		td = dict(nil, entry{"a", td}, entry{"b", td})
	}
	around := dict(nil, entry{"e/f", td})
	require.ErrorIs(t, leaf.Set("up", around), tdict.ErrCycle)
	around.LockBecause("in use")
	testkit.Fails(t, tdict.ErrLocked, leaf.Set("y", count(1)))
	require.True(t, tensor.Must(around.Dict("e/f/a/b")).Locked())
	require.NoError(t, around.Unlock())
	testkit.MaxBytes(t, 1<<16, func() { require.NoError(t, tdict.New().Set("x", around)) })
	require.NoError(t, leaf.Set("y", count(1)))
	require.ErrorIs(t, dict(nil).Set(path(240), td), tdict.ErrDepth)
	require.NoError(t, around.Rename("e/f", "g"))
	require.NoError(t, around.Delete("g"))
}
