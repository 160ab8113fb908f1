package vfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// renameNew is RenameNew of the operating system.
func renameNew(old, new string, overEmpty bool) error {
	rename := renameAbsent
	if overEmpty {
		rename = syscall.Rename // over an empty directory only
	}
	err := rename(old, new)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) && taken(new, overEmpty) {
		err = fs.ErrExist // systems return several errors for it
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err // an error of os.Rename has both paths already
	}
	return &os.LinkError{Op: "rename", Old: old, New: new, Err: err}
}

// taken reports whether the file at path prevents a directory from being renamed to path.
func taken(path string, overEmpty bool) bool {
	info, err := os.Lstat(path)
	return err == nil && (!overEmpty || !info.IsDir())
}
