package vfstest

import (
	"io/fs"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// A dir is an open directory of a Disk.
type dir struct {
	disk *Disk
	path string
}

var _ vfs.Dir = dir{}

func (d dir) at(path string) string { return filepath.Join(d.path, path) }

func (d dir) Create(path string, perm fs.FileMode) (vfs.File, error) {
	return d.disk.Create(d.at(path), perm)
}
func (d dir) Resume(path string, size int64, cut bool) (vfs.File, error) {
	return d.disk.Resume(d.at(path), size, cut)
}
func (d dir) Chmod(path string, mode fs.FileMode) error { return d.disk.Chmod(d.at(path), mode) }
func (d dir) Rename(old, new string) error              { return d.disk.Rename(d.at(old), d.at(new)) }
func (d dir) SyncDir(path string) error                 { return d.disk.SyncDir(d.at(path)) }
func (d dir) RemoveAll(path string) error               { return d.disk.RemoveAll(d.at(path)) }
func (d dir) Lstat(path string) (fs.FileInfo, error)    { return d.disk.Lstat(d.at(path)) }
func (d dir) Close() error                              { return nil }
