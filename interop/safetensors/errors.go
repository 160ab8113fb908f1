package safetensors

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/safetensors"
)

// What can be wrong with a file or a dictionary.
var (
	// ErrCorrupt says that a file does not hold what its format demands.
	ErrCorrupt = safetensors.ErrCorrupt
	// ErrUnsupported says that a file holds something that this package does not read, or that a
	// dictionary to be saved has something for which the format has no place.
	ErrUnsupported = safetensors.ErrUnsupported
	// ErrClosed says that a [File] was used after its Close, or was never opened.
	ErrClosed = mapping.ErrClosed
	// ErrLimit says that the process has as many mapped files as it may: half of vm.max_map_count on
	// Linux. Closing others, or raising that, makes room; files of up to 64 KiB are read instead.
	ErrLimit = mapping.ErrLimit
	// ErrFault says that mapped memory could not be read, most likely since another process cut the
	// file.
	ErrFault = mapping.ErrFault
)

// A FileError says which file is at fault, and where in it.
type FileError struct {
	Op   string // "open", "read", "save", "write" or "close"
	Path string // the file, of a set the shard or the index; "" for what is not a file
	Name string // of a tensor as the file spells it, "model.bias"; "" for the whole
	Err  error
}

// maxText is how many bytes the text of a reason has at most, but for a few.
const maxText = 700

// Error returns the text: operation, path, tensor, reason. A reason that is very long, as names in a
// damaged file can make it, is cut in the middle.
func (e *FileError) Error() string {
	text := e.Op
	if e.Path != "" {
		text += " " + e.Path
	}
	if e.Name != "" {
		text += ": " + errtext.Quote(e.Name)
	}
	return text + ": " + errtext.Cut(fmt.Sprint(e.Err), maxText)
}

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// fileError returns err, if there is one, as a FileError, which it may be already.
func fileError(op, path, name string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*FileError](err); ok {
		return err
	}
	return &FileError{op, path, name, errtext.Bare(err)}
}

// mappedError returns the error of a mapped file, or of a tensor in it, as a FileError.
func mappedError(op, path, name string, err error) error {
	err = errtext.Bare(err)
	if errors.Is(err, mapping.ErrNotRegular) || errors.Is(err, mapping.ErrSize) {
		err = corrupt("%w", err)
	}
	return &FileError{op, path, name, err}
}

// corrupt returns ErrCorrupt and says what is wrong.
func corrupt(format string, args ...any) error { return errtext.With(ErrCorrupt, format, args...) }

// unsupported returns ErrUnsupported and says what is not supported.
func unsupported(format string, args ...any) error {
	return errtext.With(ErrUnsupported, format, args...)
}
