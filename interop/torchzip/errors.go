package torchzip

import "github.com/go-tensordict/tensordict/internal/fileformat"

// What can be wrong with a file.
var (
	// ErrCorrupt says that a file does not hold what its format demands.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrUnsupported says that a file holds something other than one tensor that this package reads,
	// or that a tensor has a dtype which torch does not have.
	ErrUnsupported = fileformat.ErrUnsupported
)

// A FileError says what is at fault. Its fields are:
//
//	Op   string // "open", "read" or "write"
//	Path string // ""
//	Name string // of an entry of the archive, "archive/data.pkl"; "" for the whole
//	Err  error  // the reason
type FileError = fileformat.Error

var corrupt, unsupported = fileformat.Corrupt, fileformat.Unsupported
