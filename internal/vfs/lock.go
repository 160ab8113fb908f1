package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrHeld says that the lock is held, by this process or another.
var ErrHeld = errors.New("locked by another")

// A Sharing says who may hold a lock at the same time.
type Sharing uint8

const (
	// Exclusive is a lock with a single holder.
	Exclusive Sharing = iota
	// Shared is a lock that others may hold too, as Shared.
	Shared
)

// A Lock is held until Unlock or the end of the process, however it ends. It is advisory. Not safe
// for concurrent use.
type Lock struct{ file *os.File }

// TryLock locks a file or a directory, which must exist. It never waits: it returns [ErrHeld] if
// the lock is held, and [errors.ErrUnsupported] if the system cannot lock the path, such as
// directories on Windows and on some network file systems.
func TryLock(path string, sharing Sharing) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // required for files on network file systems
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f, err = os.OpenFile(path, os.O_RDONLY, 0)
	}
	if err != nil {
		return nil, err
	}
	return LockOpen(f, sharing)
}

// LockOpen is [TryLock] for an open file, which the lock then owns: Unlock closes it, and so does
// LockOpen if it fails.
func LockOpen(f *os.File, sharing Sharing) (*Lock, error) {
	if err := lockFile(f, sharing); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{f}, nil
}

// Become changes the sharing of the lock. If it returns [ErrHeld], others share the lock, and it
// may be lost.
func (l *Lock) Become(sharing Sharing) error { return lockFile(l.file, sharing) }

// At reports whether path still names the locked file.
func (l *Lock) At(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && l.Of(info)
}

// Of reports whether info, a result of Lstat, describes the locked file.
func (l *Lock) Of(info fs.FileInfo) bool {
	held, err := l.file.Stat()
	return err == nil && os.SameFile(held, info)
}

// Unlock releases the lock. Only the first call has an effect.
//
// It unlocks before closing: a process that is being started may have the file for a short time
// too.
func (l *Lock) Unlock() error {
	unlockFile(l.file)
	err := l.file.Close()
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

// lockError adds the path to an error of locking.
func lockError(f *os.File, err error) error {
	return fmt.Errorf("lock %s: %w", filepath.Clean(f.Name()), err)
}
