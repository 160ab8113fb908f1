package vfs

import (
	"errors"
	"os"
	"syscall"
)

// exchange swaps a and b.
func exchange(a, b string) error {
	err := swapNames(a, b)
	if unsupported(err) {
		err = errors.ErrUnsupported
	}
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}

// renameAbsent renames a directory to a path that must not exist. Where no call does that, it uses
// os.Rename, which may replace an empty directory that is made at the same time.
func renameAbsent(old, new string) error {
	err := renameFree(old, new)
	if unsupported(err) {
		return os.Rename(old, new)
	}
	return err
}

// unsupported reports whether the kernel lacks a call (ENOSYS), or the file system does.
func unsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) ||
		errors.Is(err, syscall.ENOTSUP)
}
