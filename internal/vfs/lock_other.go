//go:build !windows && (!unix || solaris || aix)

package vfs

import (
	"errors"
	"os"
)

// lockFile cannot be done here.
func lockFile(f *os.File, _ Sharing) error { return lockError(f, errors.ErrUnsupported) }

// unlockFile has nothing to do.
func unlockFile(*os.File) {}
