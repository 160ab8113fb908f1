package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrHeld says that another, in this process or in another one, has the lock.
var ErrHeld = errors.New("locked by another")

// A Sharing says who may have a lock at the same time.
type Sharing uint8

const (
	// Exclusive is a lock that one holds alone.
	Exclusive Sharing = iota
	// Shared is a lock that others may hold as Shared too.
	Shared
)

// A Lock is held until Unlock, or until the process ends, however it does. It binds those who ask
// for it and nobody else. Not safe for concurrent use.
type Lock struct{ file *os.File }

// TryLock locks a file or a directory, which must exist. It never waits: it returns [ErrHeld] if
// the lock is not free, and [errors.ErrUnsupported] where the system cannot lock what path names:
// directories on Windows and on some network file systems.
func TryLock(path string, sharing Sharing) (*Lock, error) {
	f, err := OpenFile(path, os.O_RDWR, 0) // network file systems want that of a file
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f, err = OpenFile(path, os.O_RDONLY, 0)
	}
	if err != nil {
		return nil, err
	}
	return LockOpen(f, sharing)
}

// LockOpen is [TryLock] of an open file, which the lock owns from then on: Unlock closes it, and so
// does LockOpen if it fails.
func LockOpen(f *os.File, sharing Sharing) (*Lock, error) {
	if err := lockFile(f, sharing); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{f}, nil
}

// Become changes the lock from one sharing to the other. If it returns [ErrHeld], others share the
// lock and it may be lost.
func (l *Lock) Become(sharing Sharing) error { return lockFile(l.file, sharing) }

// At reports whether path still names what is locked.
func (l *Lock) At(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && l.Of(info)
}

// Of reports whether info, as Lstat returns it, describes what is locked.
func (l *Lock) Of(info fs.FileInfo) bool {
	held, err := l.file.Stat()
	return err == nil && os.SameFile(held, info)
}

// Unlock gives the lock back. Only the first call does.
//
// Closing the file alone would not do: a process that is being started has it too for a moment.
func (l *Lock) Unlock() error {
	unlockFile(l.file)
	err := l.file.Close()
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

// lockError says of what a lock was not to be had.
func lockError(f *os.File, err error) error {
	return fmt.Errorf("lock %s: %w", filepath.Clean(f.Name()), err)
}
