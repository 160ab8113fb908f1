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
		t.Skip("this account may not make links, as on Windows: ", err)
	}
	require.ErrorIs(t, vfs.Publish(vfs.OS, tmp, dir, there(vfs.OS, dir)), fs.ErrExist)
}

func TestCreateIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, writeFile(vfs.OS, path, before))
	f, err := vfs.OS.Create(path, 0o666)
	require.ErrorIs(t, err, fs.ErrExist)
	require.Nil(t, f)
}

func TestResume(t *testing.T) {
	tests := []struct {
		name string
		size int64
		want string
	}{
		{"at the end", 4, "text and more"},
		{"after a cut", 2, "te and more"},
		{"from the start", 0, " and more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			require.NoError(t, os.WriteFile(path, []byte("text"), 0o666))
			f, err := vfs.OS.Resume(path, tt.size, true)
			require.NoError(t, err)
			requireContent(t, path, "text"[:tt.size])
			for _, more := range []string{" and", " more"} {
				_, err = f.Write([]byte(more))
				require.NoError(t, err)
			}
			require.NoError(t, errors.Join(f.Sync(), f.Close()))
			requireContent(t, path, tt.want)
		})
	}
}

// TestResumeWithoutCut: what follows the place is replaced, or stays; Extend only makes a file
// longer, and does not move the place.
func TestResumeWithoutCut(t *testing.T) {
	tests := []struct {
		name         string
		size, extend int64
		want         string
	}{
		{"at the end", 4, 0, "text+more"},
		{"within", 1, 0, "t+more"},
		{"over a part", 0, 0, "+more"},
		{"extended", 4, 11, "text+more\x00\x00"},
		{"extended to less", 2, 3, "te+more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			require.NoError(t, os.WriteFile(path, []byte("text"), 0o666))
			f, err := vfs.OS.Resume(path, tt.size, false)
			require.NoError(t, err)
			requireContent(t, path, "text")
			require.NoError(t, f.Extend(tt.extend))
			_, err = f.Write([]byte("+more"))
			require.NoError(t, err)
			require.NoError(t, errors.Join(f.Sync(), f.Close()))
			requireContent(t, path, tt.want)
		})
	}
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o666))
	_, err := vfs.OS.Resume(path, 5, false)
	require.ErrorIs(t, err, fs.ErrInvalid)
	root, err := vfs.OS.OpenDir(filepath.Dir(path))
	require.NoError(t, err)
	f, err := root.Resume("f", 2, false)
	require.NoError(t, err)
	require.NoError(t, errors.Join(f.Extend(6), f.Close(), root.Close()))
	requireContent(t, path, "text\x00\x00")
}

func TestWriteAt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := vfs.OS.Create(path, 0o666)
	require.NoError(t, err)
	_, err = f.Write([]byte("text"))
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("es"), 1)
	require.NoError(t, err)
	_, err = f.Write([]byte(" goes on"))
	require.NoError(t, err)
	require.NoError(t, errors.Join(f.Sync(), f.Close()))
	requireContent(t, path, "test goes on")
}

// requireContent checks what a file holds.
func requireContent(t *testing.T, path, want string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(data))
}

func TestResumeRefuses(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "f")
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o666))
	tests := []struct {
		name, path string
		size       int64
		err        error // nil for any
		text       string
	}{
		{"a file that is shorter", path, 5, fs.ErrInvalid, "got a file of 4 bytes, want at least 5"},
		{"less than nothing", path, -1, nil, ""},
		{"a missing file", filepath.Join(root, "nothing"), 0, fs.ErrNotExist, ""},
		{"a directory", root, 0, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := vfs.OS.Resume(tt.path, tt.size, true)
			require.Nil(t, f)
			require.ErrorContains(t, err, tt.path)
			require.ErrorContains(t, err, tt.text)
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
			}
			requireContent(t, path, "text")
			require.Len(t, list(t, root), 1, "no file was made")
		})
	}
}

func TestLink(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a", []byte("text"), 0o666))
	require.NoError(t, os.WriteFile("taken", []byte("mine"), 0o666))
	require.NoError(t, vfs.OS.Link("a", "b"))
	require.NoError(t, os.WriteFile("b", []byte("changed"), 0o666))
	requireContent(t, "a", "changed")

	require.ErrorIs(t, vfs.OS.Link("a", "taken"), fs.ErrExist)
	requireContent(t, "taken", "mine")
	require.ErrorIs(t, vfs.OS.Link("nothing", "c"), fs.ErrNotExist)
	require.NoError(t, vfs.OS.RemoveAll("a"))
	requireContent(t, "b", "changed")
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
