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

// A Single is one regular file that was opened by its path. It is also the [Part] of all its bytes,
// and so a tensor.Lender of them. It is mapped for reading on first use, and holds a descriptor
// until then: if another file takes its name, nothing changes. Safe for concurrent use.
type Single struct {
	Part
	path   string // as given to OpenSingle
	at     string // absolute path
	name   func(op, part string, err error) error
	info   fs.FileInfo // from when it was opened
	id     any         // from vfs.FileID
	mapped atomic.Pointer[mapping.Mapping]

	mu     sync.Mutex
	closed bool     // guarded by mu; once set, the file is not mapped
	file   *os.File // guarded by mu; nil once the file is mapped or closed
}

var _ io.ReaderAt = (*Single)(nil)

// OpenSingle opens the file at a path; it follows links, and does not wait for the other end of a
// pipe.
//
// name, if not nil, creates all errors of the file, from the operation, "open", "read" or "close",
// the path of the [Part], "" for the whole file, and the cause. If name is nil, errors are
// fs.PathErrors. The causes are mapping.ErrNotRegular for a directory, a pipe or a device,
// mapping.ErrSize for a file that is empty or was truncated before it was mapped, mapping.ErrFault
// if it was truncated later, mapping.ErrLimit, mapping.ErrClosed, and errors of the system.
func OpenSingle(path string, name func(op, part string, err error) error) (*Single, error) {
	s := &Single{path: path, name: name}
	s.Part.of = s
	if err := s.open(); err != nil {
		return nil, s.named("open", err)
	}
	s.id, s.size = vfs.FileID(s.info, s.at), int(s.info.Size())
	return s, nil
}

// open opens the file and checks that it is regular.
func (s *Single) open() (err error) {
	if s.at, err = vfs.Absolute(s.path); err != nil {
		return err
	}
	s.file, err = os.OpenFile(s.path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not wait for a pipe
	if err != nil {
		return err
	}
	s.info, err = s.file.Stat()
	if err == nil && !s.info.Mode().IsRegular() {
		err = fmt.Errorf("%w: got mode %v", mapping.ErrNotRegular, s.info.Mode())
	}
	if err != nil {
		_ = s.file.Close() // nothing was read or written
	}
	return err
}

// Lend returns size bytes of the file, from offset on, as a [Part] named path in errors. All parts
// share one mapping. Lend returns mapping.ErrSize if the file did not have all of these bytes when
// it was opened.
func (s *Single) Lend(path string, offset, size int) (*Part, error) {
	p := &Part{of: s, path: path, offset: offset, size: size}
	if offset < 0 || size < 0 || offset > s.size-size {
		return nil, p.named("open", fmt.Errorf("%w: got %d bytes from byte %d on, want a part of the file, which has %d bytes", mapping.ErrSize, size, offset, s.size))
	}
	return p, nil
}

// Replaced reports whether opening the path again would give another content: because another file
// has that path, or because this one has another size or modification time. It returns
// fs.ErrNotExist if there is no file, and mapping.ErrClosed after Close.
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

// ReadAt implements io.ReaderAt. It does not map the file; if the file is mapped, ReadAt copies
// from memory.
func (s *Single) ReadAt(b []byte, offset int64) (int, error) {
	if file := s.unmapped(); file != nil {
		n, err := file.ReadAt(b, offset)
		if err == nil || err == io.EOF {
			return n, err
		}
		if !errors.Is(err, fs.ErrClosed) { // the file was mapped or closed meanwhile
			return n, s.named("read", err)
		}
	}
	return s.copyAt(b, offset)
}

// unmapped returns the file, or nil if it is mapped or closed.
func (s *Single) unmapped() *os.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file
}

// copyAt is ReadAt of a mapped file.
func (s *Single) copyAt(b []byte, offset int64) (n int, err error) {
	err = s.View(func(all []byte) (err error) {
		n, err = bytes.NewReader(all).ReadAt(b, offset)
		return err
	})
	return n, err
}

// Map maps the file, unless it is mapped already, and closes its descriptor. Call it after opening
// if a program may have more files open than the process may have descriptors.
func (s *Single) Map() error {
	_, err := s.mapping()
	return s.named("open", err)
}

// View calls fn with all bytes of the file, which it maps. For many small reads that is faster than
// ReadAt. View returns the error of fn, and mapping.ErrFault if the file was truncated meanwhile.
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

// mapping returns the mapping of the file, which it maps on first use.
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
	_ = s.file.Close() // nothing was written
	s.file = nil
}

// Closed reports whether Close began.
func (s *Single) Closed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Close refuses new loans, and unmaps the file when the last loan ends; it does not wait for that.
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

// CloseWait closes s if it is open, and waits until the file is unmapped. If ctx ends first, it
// returns the error of ctx.
func (s *Single) CloseWait(ctx context.Context) error {
	_ = s.Close() // its error is returned below too
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
