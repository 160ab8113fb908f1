//go:build unix

package memmap

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestIdentityIsOfTheFileOpened replaces the file of a leaf after it was opened.
func TestIdentityIsOfTheFileOpened(t *testing.T) {
	td := tdict.New()
	require.NoError(t, td.Set("a", tensor.Scalar(1.5)))
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, Save(dir, td))
	before := leaves(t, dir)[0]
	require.NoError(t, os.Rename(filepath.Join(dir, "a.memmap"), filepath.Join(t.TempDir(), "kept")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.memmap"), make([]byte, 8), 0o666))
	require.False(t, before.SameMemory(leaves(t, dir)[0]))
	require.NotEqual(t, before.Identity(), leaves(t, dir)[0].Identity())
}
