package vfs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// fileID returns the identity of the file at path.
func fileID(t *testing.T, path string) any {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return vfs.FileID(info, path)
}

func TestFileID(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"a", "b"} {
		require.NoError(t, os.WriteFile(name, []byte("same text"), 0o666))
	}
	tests := []struct {
		name string
		a, b string
		same bool
	}{
		{"a file is itself", "a", "a", true},
		{"another file of the same text is not", "a", "b", false},
		{"a relative path and an absolute one", "a", filepath.Join(dir, "a"), true},
		{"a path that goes round", "a", filepath.Join("..", filepath.Base(dir), ".", "a"), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.same, fileID(t, tt.a) == fileID(t, tt.b))
		})
	}
}

// TestFileIDWithoutTheSystem has infos that no system made, as on one that numbers no files.
func TestFileIDWithoutTheSystem(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	info, err := fs.Stat(fstest.MapFS{"a": &fstest.MapFile{}}, "a")
	require.NoError(t, err)
	here := vfs.FileID(info, "a")
	require.Equal(t, here, vfs.FileID(info, filepath.Join("sub", "..", "a")), "the path is cleaned")
	require.NotEqual(t, here, vfs.FileID(info, "b"))
	t.Chdir(t.TempDir())
	require.NotEqual(t, here, vfs.FileID(info, "a"), "the path is absolute")
}
