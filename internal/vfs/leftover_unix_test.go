//go:build unix

package vfs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// TestSweepGoesOn has a leftover among others that cannot be removed.
func TestSweepGoesOn(t *testing.T) {
	canHold(t)
	if os.Geteuid() == 0 {
		t.Skip("root can remove everything")
	}
	root := t.TempDir()
	locked := filepath.Join(root, ".saving-AAAAAAA5")
	mark := func(dir string) { require.NoError(t, os.WriteFile(filepath.Join(dir, ".saving"), nil, 0o666)) }
	require.NoError(t, os.MkdirAll(filepath.Join(locked, "new"), 0o777))
	mark(locked)
	require.NoError(t, os.Chmod(locked, 0o555))
	defer os.Chmod(locked, 0o777)
	for _, name := range []string{".saving-AAAAAAA2", ".saving-AAAAAAA3", ".saving-AAAAAAA7", ".saving-AAAAAAA6"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, name), 0o777))
		mark(filepath.Join(root, name))
	}
	require.ErrorIs(t, vfs.Sweep(root), fs.ErrPermission)
	require.Equal(t, []string{locked, filepath.Join(locked, ".saving"), filepath.Join(locked, "new")}, list(t, root))
}
