package vfs

import (
	"errors"
	"os"
	"runtime"
)

// syncDir syncs the directory at path.
func syncDir(path string) error {
	d, err := os.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(syncOpenDir(d), d.Close())
}

// syncOpenDir is [FS.SyncDir] of an open directory. Windows cannot sync one.
func syncOpenDir(d *os.File) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return d.Sync()
}
