package memmap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/tensor"
)

// A leafFile lends the memory of a leaf's file, which it maps when it is first wanted. It is a
// tensor.Lender.
type leafFile struct {
	files  *files
	path   string      // below files.root
	size   int         // bytes of the leaf's elements
	info   fs.FileInfo // of the file, when the directory was opened
	id     any         // of the file, as vfs.FileID says
	mapped atomic.Pointer[mapping.Mapping]
}

// Borrow implements tensor.Lender.
func (l *leafFile) Borrow() ([]byte, error) {
	m, err := l.mapping()
	if err != nil {
		return nil, err
	}
	b, err := m.Acquire()
	return b, l.failed(err)
}

// Return implements tensor.Lender.
func (l *leafFile) Return() { l.mapped.Load().Release() }

// Pin implements tensor.Lender.
func (l *leafFile) Pin() ([]byte, error) {
	m, err := l.mapping()
	if err != nil {
		return nil, err
	}
	b, err := m.Pin()
	return b, l.failed(err)
}

// failed says which file an error of reading is about.
func (l *leafFile) failed(err error) error { return l.named("read", err) }

// named says which file an error is about, and during which operation it happened.
func (l *leafFile) named(op string, err error) error {
	if err == nil {
		return nil
	}
	return &FileError{op, l.path, err}
}

// SameMemory reports whether another lender lends the same file, as if the directory was opened
// twice.
func (l *leafFile) SameMemory(other tensor.Lender) bool {
	o, ok := other.(*leafFile)
	return ok && os.SameFile(l.info, o.info)
}

// Identity returns a comparable value that is equal for two leaves exactly if they lend the same
// file, as vfs.FileID says, so that leaves can be grouped without comparing each with each. It
// never changes.
func (l *leafFile) Identity() any { return l.id }

// String returns the path of the file, for errors.
func (l *leafFile) String() string { return l.path }

// ReadOnly implements tensor.Lender.
func (l *leafFile) ReadOnly() bool { return !l.files.writable }

// mapping returns the file mapped.
func (l *leafFile) mapping() (*mapping.Mapping, error) {
	if m := l.mapped.Load(); m != nil {
		return m, nil
	}
	l.files.mu.Lock()
	defer l.files.mu.Unlock()
	if m := l.mapped.Load(); m != nil {
		return m, nil
	}
	if l.files.closed {
		return nil, l.failed(ErrClosed)
	}
	m, err := l.mapFile()
	if err != nil {
		return nil, l.failed(err)
	}
	l.mapped.Store(m)
	return m, nil
}

// mapFile maps the file, which must still be the one that was there when the directory was opened.
func (l *leafFile) mapFile() (*mapping.Mapping, error) {
	flag, mode := os.O_RDONLY, mapping.ReadOnly
	if l.files.writable {
		flag, mode = os.O_RDWR, mapping.ReadWrite
	}
	flag |= syscall.O_NONBLOCK // a pipe there now must not make us wait
	f, err := l.files.root.OpenFile(l.path, flag, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrReplaced, err)
	}
	if err != nil {
		return nil, err
	}
	m, err := l.mapOpened(f, mode)
	return m, errors.Join(err, f.Close())
}

func (l *leafFile) mapOpened(f *os.File, mode mapping.Mode) (*mapping.Mapping, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(info, l.info) {
		return nil, ErrReplaced
	}
	m, err := mapping.Map(f, l.size, mode)
	if errors.Is(err, mapping.ErrSize) || errors.Is(err, mapping.ErrNotRegular) {
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return m, err
}
