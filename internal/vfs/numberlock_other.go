//go:build !linux && !darwin

package vfs

import "errors"

// NumbersSupported reports whether the system has the locks of [Numbers].
const NumbersSupported = false

func (*Numbers) try(_, _ int64) (bool, error) { return false, errors.ErrUnsupported }
func (*Numbers) unlock(_, _ int64) error      { return errors.ErrUnsupported }
func (*Numbers) held(_, _ int64) (from, size int64, held bool, err error) {
	return 0, 0, false, errors.ErrUnsupported
}
