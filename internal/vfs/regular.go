package vfs

import (
	"fmt"
	"io/fs"
	"os"
)

// OpenRegular opens a regular file, with the flags of [os.OpenFile]. It does not follow a symbolic
// link at the end of the path, and does not wait for a FIFO: for anything but a regular file it
// returns an fs.PathError that wraps fs.ErrInvalid.
func OpenRegular(path string, flag int) (*os.File, error) {
	refused := &fs.PathError{Op: "open", Path: path}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		refused.Err = fmt.Errorf("%w: not a regular file: got mode %v", fs.ErrInvalid, info.Mode())
		return nil, refused
	}
	f, err := os.OpenFile(path, flag|noFollow, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: not a regular file: got mode %v", fs.ErrInvalid, info.Mode())
	}
	if err != nil {
		_ = f.Close() // nothing was read or written
		refused.Err = err
		return nil, refused
	}
	return f, nil
}
