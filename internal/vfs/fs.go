package vfs

import (
	"io"
	"io/fs"
)

// FS is the part of a file system that an atomic save needs. Paths are ordinary OS paths. Errors
// match [fs.ErrExist] and [fs.ErrNotExist].
//
// An FS is safe for concurrent use.
type FS interface {
	Files
	// OpenDir opens a directory. Files are changed in that directory, even if it is renamed.
	OpenDir(path string) (Dir, error)
	// Mkdir creates a directory with the given permissions, before umask. It fails if path exists.
	Mkdir(path string, perm fs.FileMode) error
	// Link adds a name, which must not exist, for a file.
	Link(old, new string) error
	// Hold protects a directory from [Sweep], until release is called or the process ends. It fails
	// with [ErrHeld] if another process or call holds it.
	Hold(path string) (release func() error, err error)
	// RenameNew renames a directory within its parent directory, in one step. It returns
	// [fs.ErrExist] if the new name exists, unless it is an empty directory and overEmpty is set.
	RenameNew(old, new string, overEmpty bool) error
	// Exchange swaps two paths in one step: at no time is one of them absent. It returns
	// [errors.ErrUnsupported] if the system cannot do that.
	Exchange(a, b string) error
}

// A Dir is an open directory. Its paths are relative to it, and cannot lead out of it. Safe for
// concurrent use.
type Dir interface {
	Files
	// Close ends the use of the directory.
	Close() error
}

// Files has the operations on files of an [FS] or a [Dir].
type Files interface {
	// Create creates a file for writing, with the given permissions, before umask. It fails if path
	// exists.
	Create(path string, perm fs.FileMode) (File, error)
	// Resume opens a file for writing after its first size bytes. With cut it truncates the file
	// there; otherwise Write replaces the bytes that follow. It fails if the file is shorter.
	Resume(path string, size int64, cut bool) (File, error)
	// Chmod sets the permissions of a file or directory exactly, without umask. With fs.ModeSetgid,
	// new files in a directory get its group.
	Chmod(path string, mode fs.FileMode) error
	// Rename renames a file or directory as [os.Rename] does: a file may replace a file; a
	// directory does not replace anything.
	Rename(old, new string) error
	// SyncDir makes the entries of a directory durable: its names and the files that they refer to.
	SyncDir(path string) error
	// RemoveAll removes path and everything below it. It is not an error if path does not exist.
	RemoveAll(path string) error
	// Lstat describes path. It does not follow a symbolic link.
	Lstat(path string) (fs.FileInfo, error)
}

// A File is open for writing. Not safe for concurrent use.
type File interface {
	io.Writer
	// WriteAt replaces bytes that were written before. Write continues at the end.
	io.WriterAt
	// Reserve extends an empty file to size zeros and allocates disk space for them. Later writes
	// follow them.
	Reserve(size int64) error
	// Extend adds zeros at the end of a shorter file, so that it has size bytes. It allocates no
	// disk space for them, and Write continues where it was.
	Extend(size int64) error
	// Sync makes all written bytes durable.
	Sync() error
	// Close ends the writing. It does not sync.
	Close() error
}
