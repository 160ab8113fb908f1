//go:build !linux

package vfs

import "os"

// renameAbsent moves a directory to a path at which nothing is. An empty directory that is made in
// that moment may be replaced.
func renameAbsent(old, new string) error { return os.Rename(old, new) }
