package nrt

import (
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
)

// Errors about a file or a collection.
var (
	// ErrCorrupt says that a file violates its format.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrUnsupported says that a file holds something that this package does not read, or that a
	// collection to be saved has something that the format cannot represent.
	ErrUnsupported = fileformat.ErrUnsupported
	// ErrDone says that a file was saved, although an error was returned: a crash may bring the old
	// file back, since the disk could not be synced. After any other error the old file is there.
	ErrDone = vfs.ErrDone
	// ErrClosed says that a [File] was used after its Close, or was never opened.
	ErrClosed = mapping.ErrClosed
	// ErrLimit says that the process has the largest number of mapped files that is allowed: half
	// of vm.max_map_count on Linux. Close other files, or raise vm.max_map_count. Files of up to
	// 64 KiB are read into memory instead.
	ErrLimit = mapping.ErrLimit
	// ErrFault says that mapped memory could not be read, probably because another process
	// truncated the file.
	ErrFault = mapping.ErrFault
)

// A FileError is an error of a file. Its fields are:
//
//	Op   string // "open", "read", "save", "write" or "close"
//	Path string // as given; "" if there is no file
//	Name string // of an array, such as "dim1/bounds"; "" for the whole file
//	Err  error  // the cause
//
// If the text of the cause is very long, for example because of names in a damaged file, it is
// shortened in the middle.
type FileError = fileformat.Error

var corrupt, unsupported = fileformat.Corrupt, fileformat.Unsupported
