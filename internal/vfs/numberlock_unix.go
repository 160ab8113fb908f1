//go:build unix && !solaris && !aix

package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// fileLocks are files locked by flock, one for the first number of each lock.
type fileLocks struct {
	dir string
	mu  sync.Mutex
	own map[int64]*Lock // by first number
}

func newFileLocks(f *os.File) *fileLocks {
	return &fileLocks{dir: f.Name() + ".locks", own: map[int64]*Lock{}}
}

func (l *fileLocks) try(at, end int64) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.own[at] == nil {
		lock, err := l.lock(at)
		if errors.Is(err, ErrHeld) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		l.own[at] = lock
	}
	if _, err := l.own[at].file.WriteAt(fmt.Appendf(nil, "%020d", end-at), 0); err != nil {
		return false, errors.Join(err, l.drop(at))
	}
	return true, nil
}

// lock locks the file of a number. It retries if the last holder removed the file meanwhile.
func (l *fileLocks) lock(at int64) (*Lock, error) {
	for {
		f, err := l.create(at)
		if err != nil {
			return nil, err
		}
		if err := lockAlone(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		lock := &Lock{f}
		if lock.At(f.Name()) {
			return lock, nil
		}
		if err := lock.Unlock(); err != nil {
			return nil, err
		}
	}
}

// create opens the file of a number, and creates it if necessary.
func (l *fileLocks) create(at int64) (*os.File, error) {
	f, err := OpenFile(l.path(at), os.O_RDWR|os.O_CREATE, 0o666)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := os.Mkdir(l.dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return OpenFile(l.path(at), os.O_RDWR|os.O_CREATE, 0o666)
}

func (l *fileLocks) path(at int64) string { return filepath.Join(l.dir, strconv.FormatInt(at, 10)) }

// lockAlone locks f. It retries for some milliseconds while others share the lock, which they do to
// check whether it is held.
func lockAlone(f *os.File) (err error) {
	for range 10 {
		if err = lockFile(f, Exclusive); !errors.Is(err, ErrHeld) {
			return err
		}
		if lockFile(f, Shared) != nil {
			return err
		}
		unlockFile(f)
		time.Sleep(time.Millisecond)
	}
	return err
}

func (l *fileLocks) unlock(at, end int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for n := range l.own {
		if at <= n && n < end {
			errs = append(errs, l.drop(n))
		}
	}
	return errors.Join(errs...)
}

// drop unlocks a number. It removes the file before another can lock it.
func (l *fileLocks) drop(at int64) error {
	lock := l.own[at]
	delete(l.own, at)
	return errors.Join(os.Remove(lock.file.Name()), lock.Unlock())
}

func (l *fileLocks) held(at, end int64) (from, size int64, held bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	numbers, err := l.others(at, end)
	if err != nil {
		return 0, 0, false, err
	}
	for _, n := range numbers {
		if size, held, err := l.look(n); held || err != nil {
			return n, size, held, err
		}
	}
	return 0, 0, false, nil
}

// others returns, in order, the numbers with a file that l has not locked.
func (l *fileLocks) others(at, end int64) ([]int64, error) {
	entries, err := ReadDir(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var numbers []int64
	for _, e := range entries {
		n, err := strconv.ParseInt(e.Name(), 10, 64)
		if err == nil && at <= n && n < end && l.own[n] == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// look reports whether another has locked the file of a number, and the length of its lock: 1 if it
// has not written the length yet.
func (l *fileLocks) look(at int64) (size int64, held bool, err error) {
	f, err := OpenFile(l.path(at), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	if err := lockFile(f, Shared); !errors.Is(err, ErrHeld) {
		unlockFile(f)
		return 0, false, err
	}
	text, err := io.ReadAll(io.LimitReader(f, 20))
	if err != nil {
		return 0, false, err
	}
	if size, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return size, true, nil
	}
	return 1, true, nil
}
