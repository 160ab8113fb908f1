package torchzip

import "github.com/go-tensordict/tensordict/internal/fileformat"

// Errors of files.
var (
	// ErrCorrupt says that a file violates its format.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrUnsupported says that a file is not one tensor that this package reads, or that torch does
	// not have the dtype of a tensor.
	ErrUnsupported = fileformat.ErrUnsupported
)

// A FileError says which entry of a file is at fault. Its fields are:
//
//	Op   string // "open", "read" or "write"
//	Path string // ""
//	Name string // of an entry of the archive, "archive/data.pkl"; "" for the whole
//	Err  error  // the reason
type FileError = fileformat.Error

var corrupt, unsupported = fileformat.Corrupt, fileformat.Unsupported
