package vfs

import (
	"errors"
	"os"
)

// syncDir syncs the directory at path.
func syncDir(path string) error {
	d, err := OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(syncOpenDir(d), d.Close())
}
