package mapfile

import (
	"errors"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/tensor"
)

// A File lends the first bytes of a file, which it maps on first use. It implements tensor.Lender.
// Safe for concurrent use.
type File struct {
	// Sums are checksums of the content, kept for the owner of the file; mapfile does not use them.
	// They are set before the file is lent, and do not change.
	Sums []uint32
	// Owner is kept for the owner of the file, as Sums are.
	Owner any

	compared

	set     *Set
	dir     *Dir
	path    string // relative to the top of set
	size    int
	number  int
	info    fs.FileInfo // from when the file was added
	id      any         // from vfs.FileID
	touched atomic.Bool // set if Options.Touch need not be called
	mapped  atomic.Pointer[mapping.Mapping]
}

var _ tensor.Lender = (*File)(nil)

// Add adds a file in dir to s. path is relative to the top of s, with slashes, info is the result
// of Lstat, and the first size bytes are lent.
func (s *Set) Add(dir *Dir, path string, info fs.FileInfo, size int) *File {
	f := &File{
		set: s, dir: dir, path: path, size: size, info: info,
		id: vfs.FileID(info, s.dir, path),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.number = len(s.files)
	s.files = append(s.files, f)
	return f
}

// Path returns the path relative to the top of the set, with slashes.
func (f *File) Path() string { return f.path }

// Size returns the number of bytes lent.
func (f *File) Size() int { return f.size }

// Number returns the number of files that were added to the set before f.
func (f *File) Number() int { return f.number }

// Set returns the set that has the file.
func (f *File) Set() *Set { return f.set }

// Borrow implements tensor.Lender.
func (f *File) Borrow() ([]byte, error) {
	m, err := f.mapping()
	if err != nil {
		return nil, err
	}
	b, err := m.Acquire()
	return b, f.named("read", err)
}

// Touch calls Options.Touch, if it is set, before the memory is first written. Touch must be called
// between Borrow and Return.
func (f *File) Touch() error {
	if !f.set.opt.Writable || f.touched.Load() || f.set.opt.Touch == nil {
		return nil
	}
	err := f.set.opt.Touch(f)
	f.touched.Store(err == nil)
	return err
}

// Return implements tensor.Lender.
func (f *File) Return() { f.mapped.Load().Release() }

// Pin implements tensor.Lender.
func (f *File) Pin() ([]byte, error) {
	m, err := f.mapping()
	if err != nil {
		return nil, err
	}
	b, err := m.Pin()
	if err != nil {
		return nil, f.named("read", err)
	}
	return b, f.Touch()
}

// Intact returns mapping.ErrFault if the file has become too short. It must be called between
// Borrow and Return; see [mapping.Mapping.Intact].
func (f *File) Intact() error { return f.named("read", f.mapped.Load().Intact()) }

// named adds the operation and the path of the file to an error.
func (f *File) named(op string, err error) error {
	if err == nil {
		return nil
	}
	return f.set.opt.Name(op, f.path, err)
}

// Identity returns a comparable value that is equal for two Files if and only if they are the same
// file, as vfs.FileID says. Files can be grouped by it without comparing all pairs. It never
// changes.
func (f *File) Identity() any { return f.id }

// String returns the absolute path of the file, for errors.
func (f *File) String() string { return f.set.at(f.path) }

// ReadOnly implements tensor.Lender.
func (f *File) ReadOnly() bool { return !f.set.opt.Writable }

// InUse reports whether a loan of the file has not ended.
func (f *File) InUse() bool {
	m := f.mapped.Load()
	return m != nil && m.Users() > 0
}

// Advise tells the system how a part of the file will be read. It maps the file if necessary.
func (f *File) Advise(a mapping.Advice, offset, size int) error {
	m, err := f.mapping()
	if err != nil {
		return err
	}
	return f.named("read", m.AdviseRange(a, offset, size))
}

// mapping returns the mapping of the file, which it maps on first use.
func (f *File) mapping() (*mapping.Mapping, error) {
	if m := f.mapped.Load(); m != nil {
		return m, nil
	}
	s := f.set
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := f.mapped.Load(); m != nil {
		return m, nil
	}
	if s.closed {
		return nil, f.named("read", mapping.ErrClosed)
	}
	m, err := f.mapFile()
	if err != nil {
		return nil, f.named("read", err)
	}
	f.mapped.Store(m)
	return m, nil
}

// Open opens the file for reading, if it is still the file that was added.
func (f *File) Open() (*os.File, error) {
	file, err := f.open(os.O_RDONLY)
	return file, f.named("read", err)
}

// open is Open with a flag. Its errors have no path.
func (f *File) open(flag int) (*os.File, error) {
	// O_NONBLOCK: if the file was replaced by a pipe, opening must not wait.
	file, err := f.set.root.OpenFile(f.path, flag|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, f.set.lost(f.dir)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(info, f.info) {
		err = f.set.lost(f.dir)
	}
	if err != nil {
		_ = file.Close() // nothing was read or written
		return nil, err
	}
	return file, nil
}

// mapFile maps the file, which must still be the file that was added.
func (f *File) mapFile() (*mapping.Mapping, error) {
	flag, mode := os.O_RDONLY, mapping.ReadOrCopy
	if f.set.opt.Writable {
		flag, mode = os.O_RDWR, mapping.ReadWrite
	}
	file, err := f.open(flag)
	if err != nil {
		return nil, err
	}
	m, err := mapping.Map(file, f.size, mode)
	if failed := file.Close(); err == nil {
		err = failed
	}
	return m, err
}
