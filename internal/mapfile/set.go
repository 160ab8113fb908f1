package mapfile

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
)

var (
	// ErrReplaced says that another directory has the name of the one that was opened.
	ErrReplaced = errors.New("the directory was replaced after it was opened: open it again")
	// ErrGone says that a file does not exist any more, but its directory does.
	ErrGone = errors.New("the file was removed or replaced")
)

// Options say how a [Set] is opened.
type Options struct {
	// Writable maps files for reading and writing.
	Writable bool
	// Name, if not nil, creates the errors of files, from the operation, "read", "flush" or
	// "close", the path of the file, and the cause.
	Name func(op, path string, err error) error
	// Touch, if not nil, is called before the memory of a file is first written, or pinned if it is
	// writable. If Touch returns an error, the memory is not written, and Touch is called again the
	// next time. It may be called by several goroutines at once.
	Touch func(f *File) error
}

// A Set is the files of one directory. Safe for concurrent use.
type Set struct {
	opt  Options
	root *vfs.Root
	dir  string // absolute path of root
	top  *Dir

	mu      sync.Mutex
	closed  bool    // guarded by mu; once set, no further file is mapped
	rootErr error   // from closing root; does not change once closed is set
	files   []*File // guarded by mu; only ever appended to
}

// A Dir is a directory of a [Set]: the one that was opened, or a directory in it.
type Dir struct {
	path string // relative to the top; "" for the top
	info fs.FileInfo
	up   *Dir
}

// Path returns the path relative to the directory that was opened, with slashes; "" for that
// directory.
func (d *Dir) Path() string { return d.path }

// Open opens the directory whose absolute path is dir.
func Open(dir string, opt Options) (*Set, error) {
	if opt.Name == nil {
		opt.Name = func(_, path string, err error) error { return &fs.PathError{Op: "map", Path: path, Err: err} }
	}
	root, err := vfs.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	info, err := root.Lstat(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Set{opt: opt, root: root, dir: dir, top: &Dir{info: info}}, nil
}

// at returns the absolute path of a file; path is relative to the top, with slashes.
func (s *Set) at(path string) string { return filepath.Join(s.dir, filepath.FromSlash(path)) }

// Root returns the open directory; it is closed with s.
func (s *Set) Root() *vfs.Root { return s.root }

// Top returns the directory that was opened as a Dir, to which files are added.
func (s *Set) Top() *Dir { return s.top }

// Dir returns a directory in up, given its path relative to the top and the result of Lstat.
func (s *Set) Dir(up *Dir, path string, info fs.FileInfo) *Dir { return &Dir{path, info, up} }

// Replaced reports whether another directory has the name of the one that was opened. It returns
// fs.ErrNotExist if there is none of that name.
func (s *Set) Replaced() (bool, error) { return s.replaced(s.top) }

func (s *Set) replaced(d *Dir) (bool, error) {
	is, err := os.Stat(s.at(d.path))
	if err != nil {
		return false, err
	}
	return !os.SameFile(d.info, is), nil
}

// InPlace returns ErrReplaced if the name of d, or of a directory that contains d, is now the name
// of another directory or of none.
func (s *Set) InPlace(d *Dir) error {
	for ; d != nil; d = d.up {
		if yes, err := s.replaced(d); yes || err != nil {
			return ErrReplaced
		}
	}
	return nil
}

// lost returns the reason for which a file of d is missing: ErrReplaced or ErrGone.
func (s *Set) lost(d *Dir) error { return cmp.Or(s.InPlace(d), ErrGone) }

// OpenDir opens d. It returns ErrReplaced if another directory has its name in the directory that
// was opened.
func (s *Set) OpenDir(d *Dir) (*vfs.Root, error) {
	root, err := s.root.OpenRoot(path.Join(".", d.path))
	if err != nil {
		return nil, err
	}
	info, err := root.Lstat(".")
	if err == nil && !os.SameFile(info, d.info) {
		err = ErrReplaced
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// All returns an iterator over the files, in the order in which they were added.
func (s *Set) All() iter.Seq[*File] {
	return func(yield func(*File) bool) {
		s.mu.Lock()
		files := s.files
		s.mu.Unlock()
		for _, f := range files {
			if !yield(f) {
				return
			}
		}
	}
}

// Mapped returns an iterator over the files that are mapped now.
func (s *Set) Mapped() iter.Seq[*File] {
	return func(yield func(*File) bool) {
		for f := range s.All() {
			if f.mapped.Load() != nil && !yield(f) {
				return
			}
		}
	}
}

// MapAll maps every file, so that mapping cannot fail later.
func (s *Set) MapAll() error {
	for f := range s.All() {
		if _, err := f.mapping(); err != nil {
			return err
		}
	}
	return nil
}

// Closed reports whether Close began.
func (s *Set) Closed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Flush writes the stores made so far to the disk and waits for it. It returns ErrReplaced or
// ErrGone if the path of a mapped file does not lead to that file any more, so that nobody else
// will see the stores.
func (s *Set) Flush() error {
	if s.Closed() {
		return mapping.ErrClosed
	}
	for f := range s.Mapped() {
		if err := f.mapped.Load().Flush(); err != nil {
			return f.named("flush", err)
		}
		if err := s.misplaced(f); err != nil {
			return f.named("flush", err)
		}
	}
	return nil
}

// misplaced returns an error unless the path of f still leads to f.
func (s *Set) misplaced(f *File) error {
	is, err := os.Lstat(s.at(f.path))
	if err == nil && os.SameFile(is, f.info) {
		return nil
	}
	return s.lost(f.dir)
}

// Close refuses new loans, and unmaps each file when its last loan ends; it does not wait for that.
// It returns mapping.ErrClosed if it was called before.
func (s *Set) Close() error { return s.CloseAfter(func() error { return nil }) }

// CloseAfter is [Set.Close] that calls last once nothing is lent any more, except for loans that
// have not ended, see [File.InUse]. While last runs, directories and files can still be opened.
func (s *Set) CloseAfter(last func() error) error {
	if !s.refuse() {
		return mapping.ErrClosed
	}
	var failed []error
	for f := range s.Mapped() {
		failed = append(failed, f.named("close", f.mapped.Load().Close()))
	}
	failed = append(failed, last())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rootErr = s.root.Close()
	return errors.Join(append(failed, s.rootErr)...)
}

// refuse prevents further files from being mapped. It returns false if s was closed already.
func (s *Set) refuse() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.closed
	s.closed = true
	return !was
}

// CloseWait closes s if it is open, and waits until all files are unmapped. If ctx ends first, it
// returns the error of ctx.
func (s *Set) CloseWait(ctx context.Context) error {
	_ = s.Close() // closes all files before waiting for one; its errors are returned below too
	s.mu.Lock()
	failed := []error{s.rootErr}
	s.mu.Unlock()
	for f := range s.Mapped() {
		err := f.mapped.Load().CloseWait(ctx)
		if err != nil && err == ctx.Err() {
			return err
		}
		failed = append(failed, f.named("close", err))
	}
	return errors.Join(failed...)
}
