package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// OS is the file system of the operating system.
var OS FS = osFS{}

type osFS struct{}

func (osFS) Mkdir(path string, perm fs.FileMode) error {
	return step("mkdir", path, func() error { return os.Mkdir(path, perm) })
}

func (osFS) Create(path string, perm fs.FileMode) (File, error) {
	return create(os.OpenFile, path, path, perm)
}

func (osFS) Resume(path string, size int64, cut bool) (File, error) {
	return resume(os.OpenFile, path, path, size, cut)
}

func (osFS) OpenDir(path string) (Dir, error) {
	root, err := OpenRoot(path)
	if err != nil {
		return nil, err // a nil *Root would be a Dir that is not nil
	}
	return root, nil
}

// An opener is os.OpenFile, or the method OpenFile of a Root.
type opener func(path string, flag int, perm fs.FileMode) (*os.File, error)

func create(open opener, at, path string, perm fs.FileMode) (File, error) {
	var f *os.File
	err := step("create", at, func() (err error) {
		f, err = open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		return err
	})
	if err != nil {
		return nil, err // a nil *os.File would be a File that is not nil
	}
	return osFile{f}, nil
}

func resume(open opener, at, path string, size int64, cut bool) (File, error) {
	var f *os.File
	err := step("resume", at, func() (err error) {
		f, err = open(path, os.O_WRONLY|noFollow, 0) // does not wait for the reader of a FIFO
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := seek(f, size, cut); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return osFile{f}, nil
}

// seek seeks to the byte size of f, and truncates it there with cut.
func seek(f *os.File, size int64, cut bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < size {
		err := fmt.Errorf("%w: got a file of %d bytes, want at least %d", fs.ErrInvalid, info.Size(), size)
		return &os.PathError{Op: "resume", Path: f.Name(), Err: err}
	}
	if cut {
		if err := f.Truncate(size); err != nil {
			return err
		}
	}
	_, err = f.Seek(size, io.SeekStart)
	return err
}

// Hold locks the directory if the system can, and otherwise does nothing.
func (osFS) Hold(path string) (release func() error, err error) {
	l, err := TryLock(path, Exclusive)
	if errors.Is(err, errors.ErrUnsupported) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	return l.Unlock, nil
}

func (osFS) RenameNew(old, new string, overEmpty bool) error {
	return step("renamenew", new, func() error { return renameNew(old, new, overEmpty) })
}

// An osFile is a file of the operating system.
type osFile struct{ *os.File }

func (f osFile) Write(b []byte) (n int, err error) {
	err = step("write", f.Name(), func() (err error) { n, err = f.File.Write(b); return err })
	return n, err
}

func (f osFile) WriteAt(b []byte, at int64) (n int, err error) {
	err = step("write", f.Name(), func() (err error) { n, err = f.File.WriteAt(b, at); return err })
	return n, err
}

func (f osFile) Sync() error { return step("sync", f.Name(), f.File.Sync) }

func (f osFile) Close() error {
	if err := step("close", f.Name(), nil); err != nil {
		return errors.Join(err, f.File.Close())
	}
	return f.File.Close()
}

func (f osFile) Reserve(size int64) error {
	return step("reserve", f.Name(), func() error { return f.reserve(size) })
}

func (f osFile) reserve(size int64) error {
	if size == 0 {
		return nil
	}
	err := reserve(f.File, size)
	if errors.Is(err, errors.ErrUnsupported) {
		return writeZeros(f.File, size)
	}
	if err != nil {
		return err
	}
	_, err = f.Seek(size, io.SeekStart)
	return err
}

func (f osFile) Extend(size int64) error {
	return step("extend", f.Name(), func() error {
		info, err := f.Stat()
		if err != nil || info.Size() >= size {
			return err
		}
		return f.Truncate(size)
	})
}

// writeZeros reserves space where the system has no call for it.
func writeZeros(f *os.File, size int64) error {
	zeros := make([]byte, min(size, 1<<20))
	for size > 0 {
		n, err := f.Write(zeros[:min(size, int64(len(zeros)))])
		if err != nil {
			return err
		}
		size -= int64(n)
	}
	return nil
}

func (osFS) Link(old, new string) error {
	return step("link", new, func() error { return os.Link(old, new) })
}

func (osFS) Chmod(path string, mode fs.FileMode) error {
	return step("chmod", path, func() error { return os.Chmod(path, mode) })
}

func (osFS) Rename(old, new string) error {
	return step("rename", new, func() error { return os.Rename(old, new) })
}

func (osFS) Exchange(a, b string) error {
	return step("exchange", b, func() error { return exchange(a, b) })
}

func (osFS) SyncDir(path string) error {
	return step("syncdir", path, func() error { return syncDir(path) })
}

func (osFS) RemoveAll(path string) error {
	return step("removeall", path, func() error { return os.RemoveAll(path) })
}

func (osFS) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }
