package safetensors_test

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// layered returns a dictionary with a dictionary under key that has a batch shape of its own.
func layered(t testing.TB, key nestedkey.Key) *tdict.TensorDict {
	td, inner := tdict.New(4), tdict.New(4, 2)
	require.NoError(t, inner.Set("y", counted(t, tensor.Int8, 4, 2)))
	require.NoError(t, td.Set(key, inner))
	return td
}

// TestLayoutsOfKeysWithSeparators: names that are cut elsewhere than their keys go with one layout
// alone.
func TestLayoutsOfKeysWithSeparators(t *testing.T) {
	td, path := layered(t, nestedkey.Of("a.b")), filepath.Join(t.TempDir(), "x")
	testkit.Fails(t, safetensors.ErrUnsupported, safetensors.Write(io.Discard, td, safetensors.SaveOptions{}))
	require.NoError(t, safetensors.SaveWith(t.Context(), path, td, safetensors.SaveOptions{Separator: "/"}))
	f := tensor.Must(safetensors.OpenWith(path, safetensors.Options{Separator: "/"}))
	defer f.Close()
	require.Equal(t, layouts(td), layouts(f.TensorDict))

	flat := tdict.New(4)
	require.NoError(t, flat.Set(nestedkey.Of("a.b"), counted(t, tensor.Int8, 4, 2)))
	require.Equal(t, []nestedkey.Key{"a/b"}, testkit.Keys(open(t, saved(t, flat)).Leaves()))
}

// TestLayoutsOfAnotherSeparator: only the layout of the whole holds for names that are cut
// elsewhere.
func TestLayoutsOfAnotherSeparator(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	td := layered(t, nestedkey.Of("a.b", "c"))
	require.NoError(t, td.SetNames("time"))
	require.NoError(t, safetensors.SaveWith(t.Context(), path, td, safetensors.SaveOptions{Separator: ":"}))
	tests := []struct {
		name string
		opt  safetensors.Options
		want map[string]string
	}{
		{"the same", safetensors.Options{Separator: ":"}, layouts(td)},
		{"another", safetensors.Options{}, map[string]string{"the whole": `[4] ["time"]`, "a": `[4] ["time"]`}},
		{"none", safetensors.Options{Flat: true}, map[string]string{"the whole": `[4] ["time"]`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := tensor.Must(safetensors.OpenWith(path, tt.opt))
			defer f.Close()
			require.Equal(t, tt.want, layouts(f.TensorDict))
		})
	}
}

// TestLayoutsWithoutNames: dims without names have none, though those around them do.
func TestLayoutsWithoutNames(t *testing.T) {
	td, inner := tdict.New(3), tdict.New(3)
	require.NoError(t, inner.Set("x", counted(t, tensor.Int8, 3)))
	require.NoError(t, td.Set("in", inner))
	require.NoError(t, td.SetNames("time"))
	require.NoError(t, tensor.Must(td.Dict("in")).SetNames(""))
	require.Equal(t, layouts(td), layouts(open(t, saved(t, td)).TensorDict))
}

// TestSeparatorsThatOverlapParts: a name is cut at the first separator in it.
func TestSeparatorsThatOverlapParts(t *testing.T) {
	td := layered(t, nestedkey.Of("a:", "b"))
	require.ErrorIs(t, safetensors.Write(io.Discard, td, safetensors.SaveOptions{Separator: "::"}), safetensors.ErrUnsupported)
	require.NoError(t, safetensors.Write(io.Discard, td, safetensors.SaveOptions{}))
}
