//go:build !linux

package vfs

import (
	"errors"
	"os"
)

// exchange returns errors.ErrUnsupported.
func exchange(a, b string) error {
	return &os.LinkError{Op: "exchange", Old: a, New: b, Err: errors.ErrUnsupported}
}
