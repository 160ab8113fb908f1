package mapping

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/edsrzf/mmap-go"
)

// A Mode says what may be done with mapped bytes.
type Mode uint8

const (
	// ReadOnly maps bytes that must not be stored to: a store is a fault.
	ReadOnly Mode = iota
	// ReadWrite maps bytes whose stores reach the file and every other mapping of it.
	ReadWrite
)

// Map maps the first size bytes of f, which may be closed afterwards. ReadWrite needs an f that is
// open for reading and writing.
//
// Map returns an [fs.PathError] that wraps [ErrNotRegular] if f is not a regular file and [ErrSize]
// if size is not positive or f is shorter than size.
func Map(f *os.File, size int, mode Mode) (*Mapping, error) {
	if err := check(f, size); err != nil {
		return nil, &fs.PathError{Op: "map", Path: f.Name(), Err: err}
	}
	res, err := reserve(f, size, mode)
	if err != nil {
		return nil, &fs.PathError{Op: "map", Path: f.Name(), Err: err}
	}
	live.Add(1)
	return newMapping(res, mode), nil
}

// check reports why the first size bytes of f cannot be mapped. It asks the open file, not its
// path.
func check(f *os.File, size int) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: got mode %v", ErrNotRegular, info.Mode())
	case size <= 0:
		return fmt.Errorf("%w: got %d bytes, want at least 1", ErrSize, size)
	case info.Size() < int64(size):
		return fmt.Errorf("%w: got a file of %d bytes, want %d", ErrSize, info.Size(), size)
	}
	return nil
}

// reserve asks the system for the memory.
func reserve(f *os.File, size int, mode Mode) (*resource, error) {
	src, file, err := hold(f)
	if err != nil {
		return nil, err
	}
	data, err := mmap.MapRegion(src, size, protection(mode), 0, 0)
	runtime.KeepAlive(src) // mmap-go keeps only the descriptor
	if err != nil {
		_ = file.close()
		return nil, err
	}
	return &resource{data: data, file: file, done: file.close}, nil
}

// protection returns mmap-go's word for mode.
func protection(mode Mode) int {
	if mode == ReadWrite {
		return mmap.RDWR
	}
	return mmap.RDONLY
}
