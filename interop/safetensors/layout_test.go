package safetensors_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
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

// TestLayoutsOfKeysWithSeparators: names of dictionaries are cut as the names of tensors are.
func TestLayoutsOfKeysWithSeparators(t *testing.T) {
	td := layered(t, nestedkey.Of("a.b"))
	require.NoError(t, td.Set(nestedkey.Of("~.c"), tdict.New(4)))
	f := open(t, saved(t, td))
	want := map[string]string{"the whole": `[4] [""]`, "a": `[4] [""]`, "a/b": `[4 2] ["" ""]`, "~0": `[4] [""]`, "~0/c": `[4] [""]`}
	require.Equal(t, want, layouts(f.TensorDict))
	require.Equal(t, []nestedkey.Key{"a/b/y"}, testkit.Keys(f.Leaves()))
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
