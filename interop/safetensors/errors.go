package safetensors

import (
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapping"
)

// What can be wrong with a file or a dictionary.
var (
	// ErrCorrupt says that a file does not hold what its format demands.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrUnsupported says that a file holds something that this package does not read, or that a
	// dictionary to be saved has something for which the format has no place.
	ErrUnsupported = fileformat.ErrUnsupported
	// ErrClosed says that a [File] was used after its Close, or was never opened.
	ErrClosed = mapping.ErrClosed
	// ErrLimit says that the process has as many mapped files as it may: half of vm.max_map_count
	// on Linux. Closing others, or raising that, makes room; files of up to 64 KiB are read
	// instead.
	ErrLimit = mapping.ErrLimit
	// ErrFault says that mapped memory could not be read, most likely since another process cut the
	// file.
	ErrFault = mapping.ErrFault
)

// A FileError says which file is at fault, and where in it. Its fields are:
//
//	Op   string // "open", "read", "save", "write" or "close"
//	Path string // the file, of a set the shard or the index; "" if there is no file
//	Name string // of a tensor as the file spells it, "model.bias"; "" for the whole
//	Err  error  // the reason
//
// The text of a very long reason, as names in a damaged file can make it, is cut in the middle.
type FileError = fileformat.Error

var corrupt, unsupported = fileformat.Corrupt, fileformat.Unsupported
