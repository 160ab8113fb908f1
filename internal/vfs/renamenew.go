package vfs

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// renameNew is RenameNew of the operating system.
func renameNew(old, new string, overEmpty bool) error {
	rename := renameAbsent
	if overEmpty {
		rename = renameOverEmpty
	}
	err := rename(old, new)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) && taken(new, overEmpty) {
		err = fs.ErrExist // which systems say in several ways
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err // of os.Rename, which names both paths
	}
	return &os.LinkError{Op: "rename", Old: old, New: new, Err: err}
}

// taken reports whether what is at path kept a directory from being renamed to it.
func taken(path string, overEmpty bool) bool {
	info, err := os.Lstat(path)
	return err == nil && (!overEmpty || !info.IsDir() || runtime.GOOS == "windows")
}

// renameOverEmpty replaces an empty directory, and nothing else, by another: in one step, but on
// Windows.
func renameOverEmpty(old, new string) error {
	if runtime.GOOS != "windows" {
		return syscall.Rename(old, new)
	}
	_ = syscall.Rmdir(new) // unless it is empty, it stays, and the rename fails
	return os.Rename(old, new)
}
