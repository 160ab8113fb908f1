package memmap_test

import (
	"errors"

	"golang.org/x/sys/unix"
)

// mountReadOnly makes what is in dir read-only.
func mountReadOnly(dir string) error {
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
		return errors.Join(err, unix.Unmount(dir, 0))
	}
	return nil
}
