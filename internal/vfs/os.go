package vfs

import (
	"io/fs"
	"os"
)

// OS is the file system of the operating system.
var OS FS = osFS{}

type osFS struct{}

func (osFS) Mkdir(path string, perm fs.FileMode) error { return os.Mkdir(path, perm) }

func (osFS) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err // a nil *os.File would be a File that is not nil
	}
	return f, nil
}

func (osFS) Rename(old, new string) error           { return os.Rename(old, new) }
func (osFS) Exchange(a, b string) error             { return exchange(a, b) }
func (osFS) SyncDir(path string) error              { return syncDir(path) }
func (osFS) RemoveAll(path string) error            { return os.RemoveAll(path) }
func (osFS) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }
