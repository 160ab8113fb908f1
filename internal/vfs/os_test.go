package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

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
