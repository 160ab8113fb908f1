//go:build unix

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

// TestModes has a table of trees, and of the permissions that a copy of them gets.
func TestModes(t *testing.T) {
	tests := []struct {
		name       string
		tree       [][2]any // paths and modes; directories end in "/"
		dir, inner fs.FileMode
		file, one  fs.FileMode // of a new file, and of one file with everything
	}{
		{"nothing", nil, 0o777, 0o777, 0o666, 0o666},
		{"a file", [][2]any{{"", 0o640}}, 0o750, 0o750, 0o640, 0o640},
		{"a file without permissions", [][2]any{{"", 0}}, 0o700, 0o700, 0o600, 0o600},
		{"an empty directory", [][2]any{{"/", 0o750}}, 0o750, 0o750, 0o640, 0o640},
		{"the directory keeps others out", [][2]any{{"/", 0o700}, {"a", 0o644}}, 0o700, 0o700, 0o644, 0o600},
		{"the files do", [][2]any{{"/", 0o755}, {"a", 0o600}}, 0o755, 0o755, 0o600, 0o600},
		{"one file does", [][2]any{{"/", 0o755}, {"a", 0o644}, {"b", 0o640}}, 0o755, 0o755, 0o640, 0o640},
		{"an inner directory does", [][2]any{{"/", 0o755}, {"in/", 0o700}, {"in/a", 0o644}}, 0o755, 0o700, 0o644, 0o600},
		{"for a group", [][2]any{{"/", 0o750}, {"a", 0o664}}, 0o750, 0o750, 0o664, 0o660},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := filepath.Join(t.TempDir(), "x")
			for _, e := range tt.tree {
				path := filepath.Join(top, e[0].(string))
				if name := e[0].(string); name != "" && name[len(name)-1] == '/' {
					require.NoError(t, os.Mkdir(path, 0o777))
				} else {
					require.NoError(t, os.WriteFile(path, nil, 0o666))
				}
			}
			for _, e := range tt.tree {
				require.NoError(t, os.Chmod(filepath.Join(top, e[0].(string)), fs.FileMode(e[1].(int))))
			}
			m, err := vfs.ModesOf(top)
			require.NoError(t, err)
			for what, got := range map[string][2]fs.FileMode{
				"top": {tt.dir, m.Dir("")}, "inner": {tt.inner, m.Dir("in")}, "file": {tt.file, m.File("new")},
				"one": {tt.one, m.One()}, "flat": {tt.one, m.Flat().File("a")}, "with itself": {tt.one, m.With(m).One()},
			} {
				require.Equal(t, got[0], got[1], what)
			}
			require.Equal(t, tt.one&0o600, new(vfs.Modes).With(m).One()&0o600)
		})
	}
}

// TestObserve makes each kind of operation fail by an observer.
func TestObserve(t *testing.T) {
	dir := t.TempDir()
	defer vfs.Observe(nil)
	ops := map[string]bool{}
	failure := errors.New("no")
	vfs.Observe(func(op, path string) error {
		ops[op] = true
		require.True(t, filepath.IsAbs(path), path)
		return failure
	})
	root, err := vfs.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	at := filepath.Join(dir, "x")
	for _, err := range []error{
		vfs.OS.Mkdir(at, 0o777), vfs.OS.Link(at, at), vfs.OS.Chmod(at, 0), vfs.OS.Rename(at, at), vfs.OS.RenameNew(at, at, true),
		vfs.OS.Exchange(at, at), vfs.OS.SyncDir(dir), vfs.OS.RemoveAll(at), root.Chmod("x", 0), root.Rename("x", "y"), root.SyncDir("."),
		root.RemoveAll("x"), vfs.Move("x", root, root),
	} {
		require.ErrorIs(t, err, failure)
	}
	vfs.Observe(nil)
	f, err := vfs.OS.Create(at, 0o600)
	require.NoError(t, err)
	vfs.Observe(func(string, string) error { return failure })
	for _, do := range []func() error{
		func() error { _, err := f.Write([]byte("x")); return err },
		func() error { _, err := f.WriteAt([]byte("x"), 0); return err },
		func() error { return f.Reserve(1) }, f.Sync, f.Close,
	} {
		require.ErrorIs(t, do(), failure)
	}
	require.Len(t, ops, 9)
	vfs.Observe(nil)
	require.ErrorIs(t, f.Close(), fs.ErrClosed)
	info, err := os.Stat(at)
	require.NoError(t, err)
	require.Zero(t, info.Size())
}
