//go:build !unix || solaris || aix

package vfs

import (
	"errors"
	"os"
)

// lockFile returns errors.ErrUnsupported.
func lockFile(f *os.File, _ Sharing) error { return lockError(f, errors.ErrUnsupported) }

// unlockFile does nothing.
func unlockFile(*os.File) {}
