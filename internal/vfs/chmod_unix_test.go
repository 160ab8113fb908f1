//go:build unix

package vfs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// TestChmod sets modes under a umask that allows nothing to others.
func TestChmod(t *testing.T) {
	tests := []struct {
		name string
		dir  bool
		mode fs.FileMode
	}{
		{"a file all may write", false, 0o666},
		{"a file nobody may write", false, 0o444},
		{"a directory all may write", true, 0o777},
		{"a directory that hands on its group", true, 0o775 | fs.ModeSetgid},
		{"a directory that hands on its group, to few", true, 0o700 | fs.ModeSetgid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x")
			mask := syscall.Umask(0o077)
			defer syscall.Umask(mask)
			if tt.dir {
				require.NoError(t, vfs.OS.Mkdir(path, 0o777))
			} else {
				require.NoError(t, writeFile(vfs.OS, path, before))
			}
			require.NoError(t, vfs.OS.Chmod(path, tt.mode))
			info, err := os.Lstat(path)
			require.NoError(t, err)
			require.Equal(t, tt.mode, info.Mode()&^fs.ModeDir)
		})
	}
	require.ErrorIs(t, vfs.OS.Chmod(filepath.Join(t.TempDir(), "nothing"), 0o777), fs.ErrNotExist)
}
