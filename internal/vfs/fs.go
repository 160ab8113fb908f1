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
	Files
	// OpenDir opens a directory, whose files are changed in it wherever it is moved.
	OpenDir(path string) (Dir, error)
	// Mkdir makes a directory with these permissions less the umask. It fails if path exists.
	Mkdir(path string, perm fs.FileMode) error
	// Link gives a file a second name, which must not exist.
	Link(old, new string) error
	// Hold keeps a directory from being taken for a leftover, as [Sweep] looks for, until release
	// or the end of the process. It fails with [ErrHeld] if another holds it.
	Hold(path string) (release func() error, err error)
	// RenameNew gives a directory another name in the directory that it is in, in one step. It
	// returns [fs.ErrExist] if something has that name, unless it is an empty directory and
	// overEmpty is set.
	RenameNew(old, new string, overEmpty bool) error
	// Exchange swaps what two paths name, in one step: nobody ever sees one of them absent. It
	// returns [errors.ErrUnsupported] where the system cannot.
	Exchange(a, b string) error
}

// A Dir is an open directory. Its paths are relative to it, and never lead out of it. Safe for
// concurrent use.
type Dir interface {
	Files
	// Close ends the use of the directory.
	Close() error
}

// Files is what can be done with files of an [FS] or a [Dir].
type Files interface {
	// Create makes a file for writing. It fails if path exists.
	Create(path string) (File, error)
	// Resume opens a file for writing at its end, after cutting it to size bytes. It fails if the
	// file is shorter.
	Resume(path string, size int64) (File, error)
	// Chmod sets the permissions of a file or directory exactly, the umask left aside, and with
	// fs.ModeSetgid that a directory hands on its group.
	Chmod(path string, mode fs.FileMode) error
	// Rename moves a file or directory as [os.Rename] does: a file may replace a file, a directory
	// replaces nothing.
	Rename(old, new string) error
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
	// WriteAt replaces bytes that were written before. Write goes on at the end.
	io.WriterAt
	// Reserve makes an empty file one of so many zeros for which there is room on the disk. What is
	// written later follows them.
	Reserve(size int64) error
	// Sync makes what was written durable.
	Sync() error
	// Close ends the writing. It does not sync.
	Close() error
}
