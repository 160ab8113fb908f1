//go:build !windows

package vfs

import "os"

// syncOpenDir is [FS.SyncDir] of a directory that is open. Windows cannot.
func syncOpenDir(d *os.File) error { return d.Sync() }
