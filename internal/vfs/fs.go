package vfs

import (
	"io"
	"io/fs"
)

// FS is the part of a file system that an atomic save needs. Paths are ordinary OS paths. Errors
// can be matched with [fs.ErrExist] and [fs.ErrNotExist].
//
// An FS is safe for concurrent use.
type FS interface {
	// Mkdir makes a directory with these permissions less the umask. It fails if path exists.
	Mkdir(path string, perm fs.FileMode) error
	// Create makes a file for writing. It fails if path exists.
	Create(path string) (File, error)
	// Rename moves a file or directory as [os.Rename] does: a file may replace a file, a directory
	// replaces nothing.
	Rename(old, new string) error
	// Exchange swaps what two paths name, in one step: nobody ever sees one of them absent. It
	// returns [errors.ErrUnsupported] where the system cannot.
	Exchange(a, b string) error
	// SyncDir makes the entries of a directory durable: which names it has and what they name.
	SyncDir(path string) error
	// RemoveAll removes path and all below it. A path that does not exist is no error.
	RemoveAll(path string) error
	// Lstat describes path. It does not follow a symbolic link.
	Lstat(path string) (fs.FileInfo, error)
}

// A File is being written. Not safe for concurrent use.
type File interface {
	io.Writer
	// Sync makes what was written durable.
	Sync() error
	// Close ends the writing. It does not sync.
	Close() error
}
