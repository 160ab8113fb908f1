package memmap

import (
	"errors"
	"io"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// mostOpen is the number of columns up to which a Writer keeps their files open. Each takes a
// descriptor, of which a process often has 1,024.
const mostOpen = 256

// A reopened is a file of a column that is open only while it is written or synced.
type reopened struct {
	w    *Writer
	c    *column
	size int64
}

// use calls do with the open file.
func (r *reopened) use(do func(f vfs.File) error) error {
	f, err := r.c.resume(r.w.in, r.size)
	if err != nil {
		return err
	}
	return errors.Join(do(f), f.Close())
}

// Write implements io.Writer.
func (r *reopened) Write(b []byte) (n int, err error) {
	err = r.use(func(f vfs.File) (err error) {
		n, err = f.Write(b)
		return err
	})
	r.size += int64(n)
	return n, err
}

// Extend adds zeros at the end of a shorter file.
func (r *reopened) Extend(size int64) error {
	return r.use(func(f vfs.File) error { return f.Extend(size) })
}

// Sync makes all written bytes durable.
func (r *reopened) Sync() error { return r.use(vfs.File.Sync) }

// Close does nothing, since the file is closed.
func (r *reopened) Close() error { return nil }

// A columnFile is the file of a column.
type columnFile interface {
	io.WriteCloser
	Extend(size int64) error
	Sync() error
}
