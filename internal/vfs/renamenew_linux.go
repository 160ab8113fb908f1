package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameAbsent moves a directory to a path at which nothing is. Kernels without the call say
// ENOSYS, file systems without it EINVAL: there os.Rename has to do, which may replace an empty
// directory that is made in that moment.
func renameAbsent(old, new string) error {
	err := unix.Renameat2(unix.AT_FDCWD, old, unix.AT_FDCWD, new, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return os.Rename(old, new)
	}
	return err
}
