package dircache

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// An Error says which file of a cache is at fault.
type Error struct {
	Op   string // "create", "open", "publish" ...
	Dir  string // the directory, as it was given
	Path string // relative to Dir; "" for the directory itself
	Err  error
}

// Error returns the text: operation, directory, file and reason.
func (e *Error) Error() string {
	return fmt.Sprintf("%s %s: %v", e.Op, filepath.Join(e.Dir, e.Path), e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// failed returns err, if there is one, as one about a file, which it need not name.
func failed(op, dir, path string, err error) error {
	if err == nil || errors.Is(err, engine.ErrBlocked) {
		return err
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return &Error{op, dir, path, bare(err)}
}

// fail returns an error about a file of the cache.
func (s *session) fail(path string, err error) error { return failed("use", s.dir, path, err) }

// bare returns the reason of an error that names a file in full.
func bare(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}

// ignoreBlocked returns nil for an error that says to try again later.
func ignoreBlocked(err error) error {
	if errors.Is(err, engine.ErrBlocked) {
		return nil
	}
	return err
}
