package memmap

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

// What can be wrong with a directory, a file or a key.
var (
	// ErrCorrupt says that a directory does not hold what its format demands.
	ErrCorrupt = errors.New("corrupt")
	// ErrUnsupported says that a directory holds something of Python's that this module does not
	// read.
	ErrUnsupported = errors.New("unsupported")
	// ErrName says that a key has no name in the format.
	ErrName = errors.New("key cannot be saved")
	// ErrForeign says that a directory to be replaced holds files that no dictionary wrote.
	ErrForeign = errors.New("not a saved dictionary")
	// ErrReplaced says that a leaf was wanted for the first time after its directory had been
	// replaced, as by Save. What was mapped before stays; to read the rest, open the directory
	// again.
	ErrReplaced = errors.New("the directory was replaced after it was opened, open it again")
	// ErrClosed says that a dictionary was used after its Close.
	ErrClosed = mapping.ErrClosed
	// ErrFault says that mapped memory could not be read, most likely since another process cut the
	// file.
	ErrFault = mapping.ErrFault
)

// A FileError says which file of a saved dictionary is at fault.
type FileError struct {
	Op   string // "save", "open", "read", "flush" or "close"
	Path string // relative to the directory, with slashes
	Err  error
}

// Error returns the text: operation, path, reason.
func (e *FileError) Error() string { return fmt.Sprintf("%s %s: %v", e.Op, e.Path, e.Err) }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }
