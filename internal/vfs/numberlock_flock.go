//go:build unix && !linux && !solaris && !aix

package vfs

import "os"

// NumbersSupported reports whether the system has the locks of [Numbers].
const NumbersSupported = true

func newNumberLocks(f *os.File) numberLocks { return newFileLocks(f) }
