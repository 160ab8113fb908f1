package vfs

import (
	"fmt"
	"io/fs"
	"os"
)

// numbersEnd is one more than the largest number.
const numbersEnd = 1 << 62

// Numbers are exclusive locks of the numbers below 1<<62, shared by all who have the same file
// open. Locks belong to the open file: two open files of one process exclude each other, but two
// goroutines that use one Numbers do not. A lock is held until it is unlocked, the file is closed
// or the process ends. Locks are advisory: anyone may still read and write the file.
//
// The kernel locks ranges of the file, whose length does not matter. Only Linux and macOS have
// these locks, see [NumbersSupported]. Otherwise all methods return [errors.ErrUnsupported].
//
// Methods return [fs.ErrInvalid] for a range that is empty or not within the numbers. Safe for
// concurrent use.
type Numbers struct{ file *os.File }

// LockNumbers returns a Numbers for f, with no lock held. f must be open for reading and writing;
// for Held, reading is enough. The caller still closes it, and makes only one Numbers of it.
func LockNumbers(f *os.File) *Numbers { return &Numbers{f} }

// Try locks count numbers from at on, and reports whether it did. If another holds one of them, it
// locks none. It never waits for another holder. Numbers that n already holds stay locked; one
// Unlock is enough for them.
func (n *Numbers) Try(at, count int64) (bool, error) {
	end, err := n.end(at, count)
	if err != nil {
		return false, err
	}
	ok, err := n.try(at, end)
	return ok, n.named(err)
}

// Unlock unlocks count numbers from at on. It ignores numbers that n does not hold. Closing the
// file may unlock later than Unlock, since a process that is being started has the open file for a
// short time.
func (n *Numbers) Unlock(at, count int64) error {
	end, err := n.end(at, count)
	if err != nil {
		return err
	}
	return n.named(n.unlock(at, end))
}

// UnlockAll unlocks all numbers that n holds.
func (n *Numbers) UnlockAll() error { return n.named(n.unlock(0, numbersEnd)) }

// Held returns the first lock of another holder that includes one of count numbers from at on: its
// first number, which may be below at, and its length. held is false if nobody holds one of them.
// Adjacent locks of one holder are one lock. Locks of n itself do not count.
func (n *Numbers) Held(at, count int64) (from, size int64, held bool, err error) {
	end, err := n.end(at, count)
	if err != nil {
		return 0, 0, false, err
	}
	from, size, held, err = n.held(at, end)
	return from, size, held, n.named(err)
}

// end returns the end of a range.
func (n *Numbers) end(at, count int64) (int64, error) {
	if at < 0 || count < 1 || at > numbersEnd-count {
		return 0, n.named(fmt.Errorf("%w: got %d numbers from %d on, want at least one, from 0 on and below 1<<62",
			fs.ErrInvalid, count, at))
	}
	return at + count, nil
}

// named adds the name of the file to err.
func (n *Numbers) named(err error) error {
	if err == nil {
		return nil
	}
	return lockError(n.file, err)
}
