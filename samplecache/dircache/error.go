package dircache

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// An Error says which file of a cache an error is about.
type Error struct {
	Op   string // "create", "open", "publish" ...
	Dir  string // the directory, as the caller gave it
	Path string // relative to Dir; "" for the directory itself
	Err  error
}

// Error returns the operation, the file and the reason.
func (e *Error) Error() string {
	return fmt.Sprintf("%s %s: %v", e.Op, filepath.Join(e.Dir, e.Path), e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// failed returns err as an Error about a file. It returns err itself if that is nil, an Error or
// [engine.ErrBlocked].
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

// bare returns the reason of a fs.PathError, and any other error unchanged.
func bare(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}

// ignoreBlocked returns nil for [engine.ErrBlocked], and any other error unchanged.
func ignoreBlocked(err error) error {
	if errors.Is(err, engine.ErrBlocked) {
		return nil
	}
	return err
}
