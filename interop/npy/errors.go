package npy

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

// What can be wrong with a file or a value.
var (
	// ErrCorrupt says that a file does not hold what its format demands.
	ErrCorrupt = zipfile.ErrCorrupt
	// ErrUnsupported says that a file holds something that this package does not read, or that a
	// value to be saved has something for which the format has no place.
	ErrUnsupported = zipfile.ErrUnsupported
	// ErrClosed says that a [File] or a [Dict] was used after its Close, or was never opened.
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
	Path string // as it was given; "" for a reader or a writer
	Name string // of a member, "obs/x.npy", or a field; "" for the whole
	Err  error
}

// maxText is the maximum length of a reason, in bytes, but for a few.
const maxText = 700

// Error returns the text: operation, path, name, reason. A very long reason, as names in a damaged
// file can make it, is cut in the middle.
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

// mappedError returns a function that makes a FileError of an error of the mapped file at path.
func mappedError(path string) func(op, name string, err error) error {
	return func(op, name string, err error) error {
		err = errtext.Bare(err)
		if errors.Is(err, mapping.ErrNotRegular) || errors.Is(err, mapping.ErrSize) {
			err = corrupt("%w", err)
		}
		return &FileError{op, path, name, err}
	}
}

// corrupt returns ErrCorrupt with the details.
func corrupt(format string, args ...any) error {
	return errtext.With(ErrCorrupt, format, args...)
}

// unsupported returns ErrUnsupported with the details.
func unsupported(format string, args ...any) error {
	return errtext.With(ErrUnsupported, format, args...)
}
