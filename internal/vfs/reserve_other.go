//go:build !linux

package vfs

import (
	"errors"
	"os"
)

// reserve returns errors.ErrUnsupported.
func reserve(*os.File, int64) error { return errors.ErrUnsupported }
