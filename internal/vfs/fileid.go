package vfs

import (
	"io/fs"
	"path/filepath"
)

// FileID returns a comparable value that is equal for two files exactly if they are one, given what
// Stat or Lstat returned for the file and the path it has, or parts of it that are to be joined.
// Unlike os.SameFile, which compares files in pairs, it can be the key of a map. Compare it only
// while one of the files exists or is open: a system may give the number of a file that is gone to
// a new one.
//
// Where the system does not number its files, as on Windows, the value is the absolute path,
// cleaned: links and other spellings of a path are files of their own. Safe for concurrent use.
func FileID(info fs.FileInfo, elements ...string) any {
	if id, ok := systemID(info); ok {
		return id
	}
	path := filepath.Join(elements...)
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// Links returns how many names a file has, given what Stat or Lstat returned for it, and 0 where
// the system does not say.
func Links(info fs.FileInfo) int { return links(info) }
