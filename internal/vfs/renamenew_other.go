//go:build !linux

package vfs

import "os"

// renameAbsent renames a directory to a path that must not exist. It may replace an empty directory
// that is made at the same time.
func renameAbsent(old, new string) error { return os.Rename(old, new) }
