package vfs

import "os"

// syncOpenDir does nothing: Windows cannot sync a directory.
func syncOpenDir(*os.File) error { return nil }
