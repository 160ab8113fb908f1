package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A Root is an [os.Root] whose changes [Observe] sees. It is the [Dir] of [OS].
type Root struct{ dir *os.Root }

var _ Dir = (*Root)(nil)

// OpenRoot is [os.OpenRoot], but returns an error for anything but a directory; it does not wait
// for a FIFO.
func OpenRoot(path string) (*Root, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return newRoot(os.OpenRoot(path))
}

func newRoot(dir *os.Root, err error) (*Root, error) {
	if err != nil {
		return nil, err
	}
	return &Root{dir}, nil
}

// OpenRoot is [os.Root.OpenRoot].
func (r *Root) OpenRoot(path string) (*Root, error) { return newRoot(r.dir.OpenRoot(path)) }

// OpenFile is [os.Root.OpenFile].
func (r *Root) OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return r.dir.OpenFile(path, flag, perm)
}

// ReadDir returns the entries of the directory, sorted by name.
func (r *Root) ReadDir() ([]fs.DirEntry, error) { return fs.ReadDir(r.dir.FS(), ".") }

// Lstat is [os.Root.Lstat].
func (r *Root) Lstat(path string) (fs.FileInfo, error) { return r.dir.Lstat(path) }

// Ours reports whether [MakeTemp] made the directory of a name in r.
func (r *Root) Ours(name string) bool {
	info, err := r.Lstat(filepath.Join(name, markName))
	return Reserved(name) && err == nil && info.Mode().IsRegular()
}

// Create implements [Files].
func (r *Root) Create(path string, perm fs.FileMode) (File, error) {
	return create(r.OpenFile, r.at(path), path, perm)
}

// Resume implements [Files].
func (r *Root) Resume(path string, size int64, cut bool) (File, error) {
	return resume(r.OpenFile, r.at(path), path, size, cut)
}

// at returns the path of a file for [Observe].
func (r *Root) at(path string) string { return filepath.Join(r.Name(), path) }

// Chmod is [os.Root.Chmod].
func (r *Root) Chmod(path string, mode fs.FileMode) error {
	return step("chmod", r.at(path), func() error { return r.dir.Chmod(path, mode) })
}

// Rename is [os.Root.Rename].
func (r *Root) Rename(old, new string) error {
	return step("rename", r.at(new), func() error { return r.dir.Rename(old, new) })
}

// RemoveAll is [os.Root.RemoveAll].
func (r *Root) RemoveAll(path string) error {
	return step("removeall", r.at(path), func() error { return r.dir.RemoveAll(path) })
}

// SyncDir implements [Files].
func (r *Root) SyncDir(path string) error {
	return step("syncdir", r.at(path), func() error {
		f, err := r.OpenFile(path, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(syncOpenDir(f), f.Close())
	})
}

// Name is [os.Root.Name].
func (r *Root) Name() string { return r.dir.Name() }

// Close is [os.Root.Close].
func (r *Root) Close() error { return r.dir.Close() }
