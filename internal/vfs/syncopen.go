//go:build !windows

package vfs

import "os"

// SyncOpenDir is [FS.SyncDir] of a directory that is open. Windows cannot.
func SyncOpenDir(d *os.File) error { return d.Sync() }
