// Package fileformat has what packages that read and write files of one format share: their errors,
// and the reading of headers.
//
// Its functions are safe for concurrent use.
package fileformat

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/mapping"
)

// What can be wrong with a file. Each package says more about its own.
var (
	// ErrCorrupt says that a file does not hold what its format demands.
	ErrCorrupt = errors.New("corrupt")
	// ErrUnsupported says that a file holds something that a package does not read, or is to hold
	// something that the format has no place for.
	ErrUnsupported = errors.New("unsupported")
	// ErrName says that a key has no name in a format.
	ErrName = errors.New("key cannot be saved")
)

// Corrupt returns [ErrCorrupt] with the details.
func Corrupt(format string, args ...any) error { return errtext.With(ErrCorrupt, format, args...) }

// Unsupported returns [ErrUnsupported] with the details.
func Unsupported(format string, args ...any) error {
	return errtext.With(ErrUnsupported, format, args...)
}

// ReadAt fills b with the bytes of r from byte at on. If r ends before, it returns [ErrCorrupt].
func ReadAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return Corrupt("the file ends at byte %d, want %d at least", at+int64(n), at+int64(len(b)))
	}
	return err
}

// Foreign says what a file that begins with b looks like, and which package opens such files, to
// follow the text of an error of another; "" if it is none that this module opens.
func Foreign(b []byte) string {
	kind := ""
	switch {
	case bytes.HasPrefix(b, []byte("\x93NUMPY")):
		kind = "a .npy file, which package npy opens"
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		kind = "a zip file: package npy opens .npz, package memmap .tdz"
	case len(b) > 8 && b[8] == '{' && binary.LittleEndian.Uint64(b) < 1<<32:
		kind = "a safetensors file, which package safetensors opens"
	case bytes.HasPrefix(b, []byte("{")):
		kind = "JSON"
	default:
		return ""
	}
	return "; it begins as " + kind
}

// An Error says which file is at fault, and where in it.
type Error struct {
	Op   string // "open", "read", "save", "write" or "close"; "" until Failed adds it
	Path string // as it was given; "" for a reader or a writer
	Name string // of a part of the file; "" for the whole
	Err  error
}

// maxText is the maximum length of a reason, in bytes, approximately.
const maxText = 700

// Error returns the text: operation, path, name, reason. A very long reason, as names in a damaged
// file can make it, is cut in the middle.
func (e *Error) Error() string {
	text := e.Op
	if e.Path != "" {
		text += " " + e.Path
	}
	if e.Name != "" {
		text += ": " + errtext.Quote(e.Name)
	}
	return strings.TrimPrefix(text+": ", ": ") + errtext.Cut(fmt.Sprint(e.Err), maxText)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// In returns err, if there is one, as an [Error] about a part of a file, unless it is one already.
// [Failed] adds operation and path.
func In(name string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok || err == nil {
		return err
	}
	return &Error{Name: name, Err: err}
}

// Failed returns err, if there is one, as an [Error], which it may be already. Of one that [In]
// made it keeps the name.
func Failed(op, path, name string, err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return &Error{op, path, name, errtext.Bare(err)}
	case e.Op == "":
		return &Error{op, path, e.Name, e.Err}
	}
	return err
}

// SaveFailed returns err, if there is one, as an [Error] about saving the file at path. It keeps
// the name of an Error about writing a part.
func SaveFailed(path string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Path == "" {
		return &Error{"save", path, e.Name, e.Err}
	}
	return &Error{Op: "save", Path: path, Err: errtext.Bare(err)}
}

// Mapped returns a function that makes an [Error] of an error of the mapped file at path. What is
// not a regular file, or too short, is [ErrCorrupt].
func Mapped(path string) func(op, name string, err error) error {
	return func(op, name string, err error) error {
		err = errtext.Bare(err)
		if errors.Is(err, mapping.ErrNotRegular) || errors.Is(err, mapping.ErrSize) {
			err = Corrupt("%w", err)
		}
		return &Error{op, path, name, err}
	}
}
