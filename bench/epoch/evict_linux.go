package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// evicts reports whether pages of files in a directory can be evicted. On a tmpfs they cannot.
func evicts(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && s.Type != unix.TMPFS_MAGIC
}

// evict makes the system drop the pages of the files in a directory. The files must be on the disk,
// and no process may have them mapped.
func evict(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		return evictFile(path)
	})
}

func evictFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
	return errors.Join(err, f.Close())
}
