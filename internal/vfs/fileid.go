package vfs

import (
	"io/fs"
	"path/filepath"
)

// FileID returns a comparable value that is equal for two paths if and only if they name the same
// file. info is the result of Stat or Lstat; the elements, joined, are the path. Unlike
// os.SameFile, which compares files in pairs, FileID can be the key of a map. Compare values only
// while one of the files exists or is open: a system may give the number of a removed file to a new
// one.
//
// If the system does not number its files, as on Windows, the value is the absolute, clean path:
// links and other spellings of a path then count as different files. Safe for concurrent use.
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

// Links returns the number of names of a file, given the result of Stat or Lstat, or 0 if the
// system does not provide it.
func Links(info fs.FileInfo) int { return links(info) }
