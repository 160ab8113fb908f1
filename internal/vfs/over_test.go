package vfs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// A late disk calls come just before it first moves something.
type late struct {
	vfs.FS
	come func()
}

func (l *late) Exchange(a, b string) error {
	l.now()
	return l.FS.Exchange(a, b)
}

func (l *late) Rename(a, b string) error {
	l.now()
	return l.FS.Rename(a, b)
}

func (l *late) now() {
	if come := l.come; come != nil {
		l.come = nil
		come()
	}
}

// TestPublishKeepsAnother has another directory take the place of the one to be replaced.
func TestPublishKeepsAnother(t *testing.T) {
	root := ""
	other := func() {
		require.NoError(t, os.Rename(filepath.Join(root, "d"), filepath.Join(root, "moved")))
		require.NoError(t, write(vfs.OS, filepath.Join(root, "d"), later))
	}
	gone := func() { require.NoError(t, os.Rename(filepath.Join(root, "d"), filepath.Join(root, "moved"))) }
	tests := []struct {
		name        string
		early, late func()
		err         error
		want        string // at d
	}{
		{"the directory is there", nil, nil, nil, after},
		{"another is there", other, nil, fs.ErrExist, later},
		{"another comes at the last moment", nil, other, fs.ErrExist, later},
		{"it is gone", gone, nil, fs.ErrNotExist, absent},
	}
	for _, tt := range tests {
		for name, disk := range map[string]vfs.FS{"os": vfs.OS, "without exchange": plain{vfs.OS}} {
			t.Run(tt.name+", "+name, func(t *testing.T) {
				root = t.TempDir()
				tmp, dir := filepath.Join(root, "tmp"), filepath.Join(root, "d")
				require.NoError(t, write(vfs.OS, dir, before))
				require.NoError(t, write(vfs.OS, tmp, after))
				old := there(vfs.OS, dir)
				if tt.early != nil {
					tt.early()
				}
				err := vfs.Publish(&late{disk, tt.late}, tmp, dir, old)
				require.ErrorIs(t, err, tt.err)
				require.Equal(t, tt.want, load(t, os.DirFS(root), "d"))
				if tt.err != nil {
					require.Equal(t, before, load(t, os.DirFS(root), "moved"))
					require.Equal(t, after, load(t, os.DirFS(root), "tmp"), "still to be published")
				}
			})
		}
	}
}

// openRoot opens a directory with the given files, each of which has its name as content.
func openRoot(t *testing.T, files ...string) *vfs.Root {
	t.Helper()
	top := t.TempDir()
	for _, name := range files {
		require.NoError(t, os.MkdirAll(filepath.Join(top, filepath.Dir(name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(top, name), []byte(name), 0o666))
	}
	root, err := vfs.OpenRoot(top)
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func TestMove(t *testing.T) {
	tests := []struct {
		name, entry, has string // has: what is at the target
		err              error
	}{
		{"a file", "f", "", nil},
		{"a directory", "d", "", nil},
		{"a file replaces a file", "f", "f", nil},
		{"a directory replaces none that has entries", "d", "d/y", fs.ErrExist},
		{"nothing", "gone", "", fs.ErrNotExist},
		{"a path", "d/x", "", fs.ErrInvalid},
		{"a way out", "..", "", fs.ErrInvalid},
		{"no name", "", "", fs.ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			from, to := openRoot(t, "f", "d/x"), openRoot(t)
			if tt.has != "" {
				to = openRoot(t, tt.has)
			}
			err := vfs.Move(tt.entry, from, to)
			require.ErrorIs(t, err, tt.err)
			if tt.err == nil {
				_, err = from.Lstat(tt.entry)
				require.ErrorIs(t, err, fs.ErrNotExist)
				_, err = to.Lstat(tt.entry)
				require.NoError(t, err)
			}
		})
	}
}

// TestOpenDirectoriesAreReached renames directories that are open, and puts others in their places.
func TestOpenDirectoriesAreReached(t *testing.T) {
	top := t.TempDir()
	path := func(name string) string { return filepath.Join(top, name) }
	require.NoError(t, write(vfs.OS, path("d"), before))
	dir, err := vfs.OS.OpenDir(path("d"))
	require.NoError(t, err)
	defer dir.Close()
	to, err := vfs.OpenRoot(path("d"))
	require.NoError(t, err)
	defer to.Close()
	if err := os.Rename(path("d"), path("moved")); err != nil {
		t.Skip("this system does not rename what is open: ", err)
	}
	require.NoError(t, write(vfs.OS, path("d"), later))

	require.NoError(t, vfs.Move("f", openRoot(t, "f"), to))
	f, err := dir.Create("tmp", 0o666)
	require.NoError(t, err)
	_, err = f.Write([]byte(after))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, dir.Rename("tmp", "a"))
	require.NoError(t, dir.SyncDir("."))
	f, err = dir.Resume(filepath.Join("sub", "b"), 1, true)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	require.Equal(t, later, load(t, os.DirFS(top), "d"))
	for name, want := range map[string]string{"a": after, "f": "f", "sub/b": before[:1]} {
		got, err := os.ReadFile(path(filepath.Join("moved", name)))
		require.NoError(t, err)
		require.Equal(t, want, string(got), name)
	}
}
