package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameAbsent renames a directory to a path that must not exist. Kernels without the call return
// ENOSYS, file systems without it EINVAL; then it uses os.Rename, which may replace an empty
// directory that is made at the same time.
func renameAbsent(old, new string) error {
	err := unix.Renameat2(unix.AT_FDCWD, old, unix.AT_FDCWD, new, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return os.Rename(old, new)
	}
	return err
}
