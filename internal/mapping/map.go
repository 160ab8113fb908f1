package mapping

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/edsrzf/mmap-go"
)

// A Mode says how mapped bytes may be used.
type Mode uint8

const (
	// ReadOnly maps bytes for reading: a store is a fault.
	ReadOnly Mode = iota
	// ReadWrite maps bytes whose stores reach the file and every other mapping of it.
	ReadWrite
	// ReadOrCopy is ReadOnly, but once the process has [Limit] mappings, Map copies a file of up to
	// 64 KiB into memory instead. A copy does not change when the file does.
	ReadOrCopy
)

// copySize is the largest size in bytes that ReadOrCopy copies.
const copySize = 64 << 10

// Map maps the first size bytes of f, which may be closed afterwards. For ReadWrite, f must be open
// for reading and writing.
//
// Map returns an [fs.PathError] that wraps [ErrNotRegular] if f is not a regular file, [ErrSize] if
// size is not positive or f is shorter than size, and [ErrLimit] if the process has [Limit]
// mappings and f may not be copied.
func Map(f *os.File, size int, mode Mode) (*Mapping, error) {
	if err := check(f, size); err != nil {
		return nil, &fs.PathError{Op: "map", Path: f.Name(), Err: err}
	}
	res, err := acquire(f, size, mode)
	if err != nil {
		return nil, &fs.PathError{Op: "map", Path: f.Name(), Err: err}
	}
	return newMapping(res, mode), nil
}

// check returns an error if the first size bytes of f cannot be mapped. It examines the open file,
// not its path.
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

// acquire returns the bytes, mapped if the limit allows one more mapping.
func acquire(f *os.File, size int, mode Mode) (*resource, error) {
	limit := Limit()
	switch {
	case claim(&live, limit):
		res, err := reserve(f, size, mode)
		if err != nil {
			live.Add(-1)
		}
		return res, err
	case mode == ReadOrCopy && size <= copySize:
		return duplicate(f, size)
	}
	return nil, fmt.Errorf("%w: the process has %d, half of vm.max_map_count: close some, or raise it", ErrLimit, limit)
}

// reserve maps the bytes.
func reserve(f *os.File, size int, mode Mode) (*resource, error) {
	res := new(resource)
	src, err := res.file.hold(f)
	if err != nil {
		return nil, err
	}
	res.data, err = mmap.MapRegion(src, size, protection(mode), 0, 0)
	runtime.KeepAlive(src) // mmap-go keeps only the descriptor
	if err != nil {
		_ = res.file.close()
		return nil, err
	}
	res.done = res.file.close
	res.keepRegion(f.Name())
	return res, nil
}

// duplicate copies the bytes into memory.
func duplicate(f *os.File, size int) (*resource, error) {
	data := make([]byte, size, (size+7)&^7) // aligned for words
	n, err := f.ReadAt(data, 0)
	if err == io.EOF {
		err = fmt.Errorf("%w: got a file of %d bytes, want %d", ErrSize, n, size)
	}
	if err != nil {
		return nil, err
	}
	return &resource{data: data}, nil
}

// protection returns mmap-go's constant for mode.
func protection(mode Mode) int {
	if mode == ReadWrite {
		return mmap.RDWR
	}
	return mmap.RDONLY
}
