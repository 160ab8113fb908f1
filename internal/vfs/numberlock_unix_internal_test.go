//go:build unix && !solaris && !aix

package vfs

import "os"

// FileNumbers is LockNumbers as on Unix systems other than Linux.
func FileNumbers(f *os.File) *Numbers { return &Numbers{f, newFileLocks(f)} }
