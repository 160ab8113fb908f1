//go:build linux || darwin

package vfs

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// NumbersSupported reports whether the system has the locks of [Numbers].
const NumbersSupported = true

// The locks are locks of byte ranges that belong to the open file. Locks that belong to the process
// (F_SETLK) would be unsafe: closing any descriptor of the file releases them.

func (n *Numbers) try(at, end int64) (bool, error) {
	err := n.fcntl(ofdSet, &unix.Flock_t{Type: unix.F_WRLCK, Start: at, Len: end - at})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	return err == nil, err
}

func (n *Numbers) unlock(at, end int64) error {
	return n.fcntl(ofdSet, &unix.Flock_t{Type: unix.F_UNLCK, Start: at, Len: end - at})
}

// held asks again for the numbers before each lock that it finds: the kernel lists locks by holder,
// and only the locks of one holder in order.
func (n *Numbers) held(at, end int64) (from, size int64, held bool, err error) {
	for at < end {
		lock := unix.Flock_t{Type: unix.F_WRLCK, Start: at, Len: end - at}
		if err := n.fcntl(ofdGet, &lock); err != nil {
			return 0, 0, false, err
		}
		if lock.Type == unix.F_UNLCK {
			break
		}
		from, size, held = lock.Start, lock.Len, true
		end = from
	}
	return from, size, held, nil
}

// fcntl calls fcntl(2), and prevents the file from being closed meanwhile.
func (n *Numbers) fcntl(cmd int, lock *unix.Flock_t) error {
	conn, err := n.file.SyscallConn()
	if err != nil {
		return err
	}
	closed := conn.Control(func(fd uintptr) {
		err = unix.EINTR
		for err == unix.EINTR {
			err = unix.FcntlFlock(fd, cmd, lock)
		}
	})
	switch {
	case closed != nil:
		return fs.ErrClosed // Control returns another error
	case err == unix.EINVAL || err == unix.ENOSYS || err == unix.EOPNOTSUPP || err == unix.ENOLCK:
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err) // some network file systems
	}
	return err
}
