package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks a byte far beyond the end of f, since Windows prevents others from reading and
// writing a locked range. It first releases a lock that f already has: locking again would add a
// lock, not change it.
func lockFile(f *os.File, sharing Sharing) error {
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return lockError(f, errors.ErrUnsupported)
	}
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if sharing == Exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	unlockFile(f)
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, farByte())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return lockError(f, ErrHeld)
	}
	if err != nil {
		return lockError(f, err)
	}
	return nil
}

// unlockFile releases the lock of lockFile. It does nothing if f is closed.
func unlockFile(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, farByte())
}

// farByte returns the position of the byte to lock.
func farByte() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }
