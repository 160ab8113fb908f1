package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// plain hides Exchange, as most systems do.
type plain struct{ vfs.FS }

func (plain) Exchange(_, _ string) error { return errors.ErrUnsupported }

func TestPublishOnTheRealDisk(t *testing.T) {
	for name, fsys := range map[string]vfs.FS{"os": vfs.OS, "without exchange": plain{vfs.OS}} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			tmp, dir := filepath.Join(root, "tmp"), filepath.Join(root, "d")
			for _, content := range []string{before, after, later} {
				require.NoError(t, save(fsys, tmp, dir, content))
				require.Equal(t, content, load(t, os.DirFS(root), "d"))
			}
			entries, err := os.ReadDir(root)
			require.NoError(t, err)
			require.Len(t, entries, 1, "only the published directory is left")
		})
	}
}

func TestPublishRefusesSymlink(t *testing.T) {
	root := t.TempDir()
	tmp, dir := filepath.Join(root, "tmp"), filepath.Join(root, "d")
	require.NoError(t, write(vfs.OS, tmp, after))
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Skip(err) // accounts on Windows may lack the right to make links
	}
	require.ErrorIs(t, vfs.Publish(vfs.OS, tmp, dir), fs.ErrExist)
}

func TestCreateIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, writeFile(vfs.OS, path, before))
	f, err := vfs.OS.Create(path)
	require.ErrorIs(t, err, fs.ErrExist)
	require.Nil(t, f)
}

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
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.same, fileID(t, tt.a) == fileID(t, tt.b)) })
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
