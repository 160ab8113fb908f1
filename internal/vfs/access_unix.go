//go:build unix

package vfs

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// CanWrite returns an error if the system would not let this process write to the file: for want of
// permission, or since the file system is read-only.
func CanWrite(path string) error {
	if err := unix.Access(path, unix.W_OK); err != nil {
		return &fs.PathError{Op: "access", Path: path, Err: err}
	}
	return nil
}
