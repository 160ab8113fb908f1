package vfs

import "golang.org/x/sys/unix"

// swapNames swaps two paths.
func swapNames(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }

// renameFree renames to a path that must not exist.
func renameFree(old, new string) error { return unix.RenamexNp(old, new, unix.RENAME_EXCL) }
