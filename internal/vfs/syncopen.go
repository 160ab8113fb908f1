//go:build !windows

package vfs

import "os"

// syncOpenDir is [FS.SyncDir] of an open directory.
func syncOpenDir(d *os.File) error { return d.Sync() }
