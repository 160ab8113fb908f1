package vfs

import (
	"io/fs"
	"sync/atomic"
)

// observer is the function that [Observe] has set, or nil.
var observer atomic.Pointer[func(op, path string) error]

// Observe is for tests. It calls fn before each operation of this process that changes the disk
// through [OS], a [Root] or one of their files, with the name and the path of the operation. If fn
// returns an error, the operation returns it and does nothing else, except that Close closes the
// file. Operations run at the same time, so fn must be safe for concurrent use. nil ends the
// observation.
func Observe(fn func(op, path string) error) {
	if fn == nil {
		observer.Store(nil)
		return
	}
	observer.Store(&fn)
}

// step calls do, the operation op on path, unless an observer returns an error. do may be nil.
func step(op, path string, do func() error) error {
	if fn := observer.Load(); fn != nil {
		if err := (*fn)(op, path); err != nil {
			return &fs.PathError{Op: op, Path: path, Err: err}
		}
	}
	if do == nil {
		return nil
	}
	return do()
}
