package mapfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
)

// A Single is one regular file that was opened by its path. It is a [Part] too, of all its bytes,
// and so a tensor.Lender of them. It is mapped for reading when its memory is first wanted, and
// holds a descriptor until then: another file that takes its name changes nothing. Safe for
// concurrent use.
type Single struct {
	Part
	path   string // as it was given
	at     string // absolute
	name   func(op, part string, err error) error
	info   fs.FileInfo // when it was opened
	id     any         // as vfs.FileID says
	mapped atomic.Pointer[mapping.Mapping]

	mu     sync.Mutex
	closed bool     // guarded by mu; once it is set, the file is not mapped any more
	file   *os.File // guarded by mu; nil once the file is mapped or closed
}

var _ io.ReaderAt = (*Single)(nil)

// OpenSingle opens the file at a path, and does not wait for the other end of a pipe. A link leads
// to its file.
//
// name, if not nil, makes the errors of the file, here and later, of three things: the operation,
// "open", "read" or "close", the path of the [Part], "" for the whole file, and the reason. Without
// it they are an fs.PathError. Reasons are mapping.ErrNotRegular for a directory, a pipe or a
// device, mapping.ErrSize for a file that is empty or was cut before it was mapped,
// mapping.ErrFault if it was cut later, mapping.ErrLimit, mapping.ErrClosed, and errors of the
// system.
func OpenSingle(path string, name func(op, part string, err error) error) (*Single, error) {
	s := &Single{path: path, name: name}
	s.Part.of = s
	if err := s.open(); err != nil {
		return nil, s.named("open", err)
	}
	s.id, s.size = vfs.FileID(s.info, s.at), int(s.info.Size())
	return s, nil
}

// open opens the file and looks at it.
func (s *Single) open() (err error) {
	if s.at, err = vfs.Absolute(s.path); err != nil {
		return err
	}
	s.file, err = vfs.OpenFile(s.path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not make us wait
	if err != nil {
		return err
	}
	s.info, err = s.file.Stat()
	if err == nil && !s.info.Mode().IsRegular() {
		err = fmt.Errorf("%w: got mode %v", mapping.ErrNotRegular, s.info.Mode())
	}
	if err != nil {
		_ = s.file.Close() // it was not even read
	}
	return err
}

// Lend returns size bytes of the file from offset on as a [Part] with a name for errors, path. All
// parts share one mapping. It returns mapping.ErrSize if the file had not all of these
// bytes when it was opened.
func (s *Single) Lend(path string, offset, size int) (*Part, error) {
	p := &Part{s, path, offset, size}
	if offset < 0 || size < 0 || offset > s.size-size {
		return nil, p.named("open", fmt.Errorf("%w: got %d bytes from %d on, want some of the %d of the file", mapping.ErrSize, size, offset, s.size))
	}
	return p, nil
}

// Replaced reports whether opening the path again would show something else: another file has it
// now, or this one was changed, as its size and time of modification tell. It returns
// fs.ErrNotExist if there is none, and mapping.ErrClosed after Close.
func (s *Single) Replaced() (bool, error) {
	if s.Closed() {
		return false, s.named("read", mapping.ErrClosed)
	}
	is, err := os.Stat(s.at)
	if err != nil {
		return false, s.named("read", err)
	}
	same := os.SameFile(is, s.info) && is.Size() == s.info.Size() && is.ModTime().Equal(s.info.ModTime())
	return !same, nil
}

// ReadAt implements io.ReaderAt. It does not map the file; once that is mapped, it copies from
// memory.
func (s *Single) ReadAt(b []byte, offset int64) (int, error) {
	if file := s.unmapped(); file != nil {
		n, err := file.ReadAt(b, offset)
		if err == nil || err == io.EOF {
			return n, err
		}
		if !errors.Is(err, fs.ErrClosed) { // it was mapped, or closed, meanwhile
			return n, s.named("read", err)
		}
	}
	return s.copyAt(b, offset)
}

// unmapped returns the file, nil if it is mapped or closed.
func (s *Single) unmapped() *os.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file
}

// copyAt is ReadAt of a file that is mapped.
func (s *Single) copyAt(b []byte, offset int64) (n int, err error) {
	err = s.View(func(all []byte) (err error) {
		n, err = bytes.NewReader(all).ReadAt(b, offset)
		return err
	})
	return n, err
}

// Map maps the file, unless it is mapped already, and gives up its descriptor. Call it at the end
// of opening where a program may have more files open than a process may have descriptors.
func (s *Single) Map() error {
	_, err := s.mapping()
	return s.named("open", err)
}

// View calls fn with all bytes of the file, which it maps: to read many small pieces of it, that is
// faster than ReadAt. It returns the error of fn, and if the file was cut meanwhile,
// mapping.ErrFault.
func (s *Single) View(fn func(b []byte) error) error {
	if err := s.Map(); err != nil {
		return err
	}
	b, err := s.Borrow()
	if err != nil {
		return err
	}
	defer s.Return()
	failed := mapping.Guard(func() { err = fn(b) })
	if failed = cmp.Or(failed, s.mapped.Load().Intact()); failed != nil {
		return s.named("read", failed)
	}
	return err
}

// mapping returns the file mapped.
func (s *Single) mapping() (*mapping.Mapping, error) {
	if m := s.mapped.Load(); m != nil {
		return m, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.mapped.Load(); m != nil {
		return m, nil
	}
	if s.closed {
		return nil, mapping.ErrClosed
	}
	m, err := mapping.Map(s.file, s.size, mapping.ReadOrCopy)
	if err != nil {
		return nil, err
	}
	s.mapped.Store(m)
	s.dropFile()
	return m, nil
}

// dropFile closes the descriptor. The caller holds mu.
func (s *Single) dropFile() {
	_ = s.file.Close() // it was only read
	s.file = nil
}

// Closed reports whether Close began.
func (s *Single) Closed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Close refuses new loans and unmaps the file when the last loan ends; it does not wait for that.
// It returns mapping.ErrClosed if it was called before.
func (s *Single) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return mapping.ErrClosed
	}
	s.closed = true
	if m := s.mapped.Load(); m != nil {
		return s.named("close", m.Close())
	}
	s.dropFile()
	return nil
}

// CloseWait begins the close if it has not begun, and waits until the file is unmapped, or until
// ctx ends, whose error it returns then.
func (s *Single) CloseWait(ctx context.Context) error {
	_ = s.Close() // what it reports is reported below
	m := s.mapped.Load()
	if m == nil {
		return nil
	}
	err := m.CloseWait(ctx)
	if err != nil && err == ctx.Err() {
		return err
	}
	return s.named("close", err)
}
