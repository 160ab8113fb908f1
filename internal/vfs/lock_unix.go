//go:build unix && !solaris && !aix

package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks f by flock. Such a lock belongs to the open file: two open files of one process
// exclude each other too.
func lockFile(f *os.File, sharing Sharing) error {
	how := unix.LOCK_EX
	if sharing == Shared {
		how = unix.LOCK_SH
	}
	err := unix.EINTR
	for err == unix.EINTR {
		err, _ = unix.Flock(int(f.Fd()), how|unix.LOCK_NB).(unix.Errno)
	}
	switch err {
	case 0:
		return nil
	case unix.EWOULDBLOCK:
		return lockError(f, ErrHeld)
	case unix.EBADF, unix.ENOSYS, unix.EOPNOTSUPP, unix.ENOLCK: // some network file systems
		return lockError(f, errors.ErrUnsupported)
	}
	return lockError(f, err)
}

// unlockFile releases the lock of lockFile. It does nothing if f is closed.
func unlockFile(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }
