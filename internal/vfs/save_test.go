package vfs_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
)

// save does what a saver does: it writes a tree of two files at tmp, syncs it, publishes it at dir
// and cleans up as the documentation of Publish allows.
func save(fsys vfs.FS, tmp, dir, content string) error {
	err := write(fsys, tmp, content)
	if err != nil {
		return errors.Join(err, fsys.RemoveAll(tmp))
	}
	err = vfs.Publish(fsys, tmp, dir)
	if e, ok := errors.AsType[*vfs.PublishError](err); ok && (e.State == vfs.Untouched || e.State == vfs.Leftover) {
		return errors.Join(err, fsys.RemoveAll(tmp))
	}
	return err
}

// write makes a finished tree at tmp: the files a and sub/b, both holding content.
func write(fsys vfs.FS, tmp, content string) error {
	sub := filepath.Join(tmp, "sub")
	steps := []func() error{
		func() error { return fsys.Mkdir(tmp, 0o777) },
		func() error { return writeFile(fsys, filepath.Join(tmp, "a"), content) },
		func() error { return fsys.Mkdir(sub, 0o777) },
		func() error { return writeFile(fsys, filepath.Join(sub, "b"), content) },
		func() error { return fsys.SyncDir(sub) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(fsys vfs.FS, path, content string) error {
	f, err := fsys.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(content))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// absent is what load returns if there is no tree.
const absent = "(absent)"

// load returns the content of the tree at dir and requires it to be complete and not mixed.
func load(t testing.TB, tree fs.FS, dir string) string {
	t.Helper()
	if _, err := fs.Stat(tree, dir); errors.Is(err, fs.ErrNotExist) {
		return absent
	}
	a, err := fs.ReadFile(tree, dir+"/a")
	require.NoError(t, err, "%s is not complete", dir)
	b, err := fs.ReadFile(tree, dir+"/sub/b")
	require.NoError(t, err, "%s is not complete", dir)
	require.Equal(t, string(a), string(b), "%s is mixed", dir)
	return string(a)
}

// saved returns a disk that holds a tree with content at d, durably; none if content is absent.
func saved(t testing.TB, content string, noExchange bool) *vfstest.Disk {
	t.Helper()
	disk := vfstest.New()
	disk.NoExchange = noExchange
	if content != absent {
		require.NoError(t, save(disk, "tmp0", "d", content))
	}
	return disk
}
