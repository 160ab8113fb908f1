package vfstest_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
)

// FuzzDiskActsLikeTheRealOne runs the same operations on a Disk and on the real file system and
// demands the same errors and the same tree.
func FuzzDiskActsLikeTheRealOne(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 2, 3, 2, 0, 1, 3, 0, 1, 4, 0, 0})
	f.Add([]byte{0, 0, 0, 0, 2, 0, 1, 4, 0, 3, 4, 1, 2, 4, 2, 5, 0, 0})
	f.Add([]byte{1, 0, 0, 1, 2, 0, 0, 2, 0, 2, 0, 1, 3, 1, 0})
	f.Fuzz(func(t *testing.T, program []byte) {
		root, disk := t.TempDir(), vfstest.New()
		for len(program) >= 3 {
			op, a, b := program[0], name(program[1]), name(program[2])
			program = program[3:]
			want := run(vfs.OS, op, filepath.Join(root, a), filepath.Join(root, b))
			if errors.Is(want, errors.ErrUnsupported) {
				continue
			}
			got := run(disk, op, a, b)
			require.Equal(t, class(want), class(got), "op %d %s %s: real: %v, disk: %v", op%6, a, b, want, got)
		}
		require.Equal(t, list(t, os.DirFS(root)), list(t, disk.Tree()))
		for _, mode := range vfstest.CrashModes() {
			list(t, disk.Crash(mode).Tree()) // whatever is left can be read
		}
	})
}

// name picks one of a few paths, so that operations meet.
func name(b byte) string {
	names := [...]string{"a", "b", "a/a", "a/b", "b/a", "b/b", "a/a/a"}
	return names[int(b)%len(names)]
}

// run runs one operation.
func run(fsys vfs.FS, op byte, a, b string) error {
	switch op % 6 {
	case 0:
		return fsys.Mkdir(a, 0o777)
	case 1:
		return create(fsys, a)
	case 2:
		return fsys.Rename(a, b)
	case 3:
		return fsys.Exchange(a, b)
	case 4:
		return fsys.RemoveAll(a)
	}
	return sync(fsys, a)
}

// sync syncs what must be a directory: of a file, systems disagree.
func sync(fsys vfs.FS, path string) error {
	info, err := fsys.Lstat(path)
	if err != nil || !info.IsDir() {
		return err
	}
	return fsys.SyncDir(path)
}

func create(fsys vfs.FS, path string) error {
	f, err := fsys.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(filepath.Base(path)))
	return errors.Join(err, f.Sync(), f.Close())
}

// class returns the part of an error that callers may rely on.
func class(err error) string {
	switch {
	case err == nil:
		return "success"
	case errors.Is(err, fs.ErrExist):
		return "exists"
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	}
	return "other"
}
