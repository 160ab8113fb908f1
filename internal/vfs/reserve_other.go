//go:build !linux

package vfs

import (
	"errors"
	"os"
)

// reserve cannot be done here.
func reserve(*os.File, int64) error { return errors.ErrUnsupported }
