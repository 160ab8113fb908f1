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
	locked := filepath.Join(root, ".saving-00000005")
	require.NoError(t, os.MkdirAll(filepath.Join(locked, "f"), 0o777))
	require.NoError(t, os.Chmod(locked, 0o555))
	defer os.Chmod(locked, 0o777)
	for _, name := range []string{".saving-00000001", ".saving-00000003", ".saving-00000007", ".saving-00000009"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, name), 0o777))
	}
	require.ErrorIs(t, vfs.Sweep(root), fs.ErrPermission)
	require.Equal(t, []string{locked, filepath.Join(locked, "f")}, list(t, root))
}
