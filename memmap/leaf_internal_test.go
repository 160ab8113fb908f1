package memmap

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// leaves opens a directory and returns its leaves.
func leaves(t *testing.T, dir string) []*leafFile {
	t.Helper()
	d, err := Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d.files.leaves
}

// TestIdentity opens two directories of two leaves each, the first of them twice.
func TestIdentity(t *testing.T) {
	td := tdict.New()
	require.NoError(t, td.Set("a", tensor.Scalar(1.5)))
	require.NoError(t, td.Set("b/c", tensor.Scalar(1.5)))
	top := t.TempDir()
	t.Chdir(top)
	for _, dir := range []string{"d", "other"} {
		require.NoError(t, Save(dir, td))
	}
	first, again := leaves(t, "d"), leaves(t, filepath.Join(top, "d"))
	other := leaves(t, "other")
	tests := []struct {
		name string
		a, b *leafFile
		same bool
	}{
		{"a leaf is itself", first[0], first[0], true},
		{"the directory was opened twice", first[0], again[0], true},
		{"a nested leaf too", first[1], again[1], true},
		{"another leaf", first[0], again[1], false},
		{"the same leaf of another directory", first[0], other[0], false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.same, tt.a.Identity() == tt.b.Identity())
			require.Equal(t, tt.same, tt.a.SameMemory(tt.b), "both say the same")
			require.Equal(t, tt.same, len(map[any]bool{tt.a.Identity(): true, tt.b.Identity(): true}) == 1)
		})
	}
}

func TestIdentityAllocatesNothing(t *testing.T) {
	td := tdict.New()
	require.NoError(t, td.Set("a", tensor.Scalar(1.5)))
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, Save(dir, td))
	l := leaves(t, dir)[0]
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = l.Identity() }))
}
