package vfs

import "os"

// SyncOpenDir does nothing: Windows cannot sync a directory.
func SyncOpenDir(*os.File) error { return nil }
