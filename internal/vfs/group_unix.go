//go:build unix

package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// keepGroup gives a finished file or tree, before it replaces what old describes, the group of old.
// If the process may not do that, the group gets no permissions: these were meant for another one.
func keepGroup(made string, old fs.FileInfo) error {
	was, ok := old.Sys().(*syscall.Stat_t)
	info, err := os.Lstat(made)
	if !ok || err != nil { // not a file of the system
		return nil
	}
	if is, ok := info.Sys().(*syscall.Stat_t); !ok || is.Gid == was.Gid {
		return nil
	}
	return filepath.WalkDir(made, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		err = os.Lchown(path, -1, int(was.Gid))
		if !errors.Is(err, fs.ErrPermission) {
			return err
		}
		info, err := d.Info()
		if err == nil {
			err = os.Chmod(path, info.Mode()&^0o070&^fs.ModeSetgid)
		}
		return err
	})
}
