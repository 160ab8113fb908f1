package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve extends f to size bytes and makes the file system allocate space for them. Kernels and
// file systems that cannot return ENOSYS or EOPNOTSUPP.
func reserve(f *os.File, size int64) error {
	err := unix.EINTR
	for err == unix.EINTR {
		err, _ = unix.Fallocate(int(f.Fd()), 0, 0, size).(unix.Errno)
	}
	if err == 0 {
		return nil
	}
	if err == unix.ENOSYS || err == unix.EOPNOTSUPP {
		return errors.ErrUnsupported
	}
	return &os.PathError{Op: "reserve", Path: f.Name(), Err: err}
}
