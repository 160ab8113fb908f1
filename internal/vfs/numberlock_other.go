//go:build !unix || solaris || aix

package vfs

import (
	"errors"
	"os"
)

// NumbersSupported reports whether the system has the locks of [Numbers].
const NumbersSupported = false

func newNumberLocks(*os.File) numberLocks { return noLocks{} }

// noLocks returns errors.ErrUnsupported for everything.
type noLocks struct{}

func (noLocks) try(_, _ int64) (bool, error) { return false, errors.ErrUnsupported }
func (noLocks) unlock(_, _ int64) error      { return errors.ErrUnsupported }
func (noLocks) held(_, _ int64) (from, size int64, held bool, err error) {
	return 0, 0, false, errors.ErrUnsupported
}
