//go:build !linux

package doctor

import "errors"

// freeRoom returns [errors.ErrUnsupported].
func freeRoom(string) (int64, error) { return 0, errors.ErrUnsupported }
