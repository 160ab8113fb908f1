//go:build unix

package vfs

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// CanWrite returns an error if this process may not write to the file, because of its permissions
// or because the file system is read-only.
func CanWrite(path string) error {
	if err := unix.Access(path, unix.W_OK); err != nil {
		return &fs.PathError{Op: "access", Path: path, Err: err}
	}
	return nil
}
