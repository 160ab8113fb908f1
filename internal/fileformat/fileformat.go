// Package fileformat has the errors, and the reading of headers, that the packages of file formats
// share.
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

// The errors that packages of file formats share.
var (
	// ErrCorrupt says that a file breaks the rules of its format.
	ErrCorrupt = errors.New("corrupt")
	// ErrUnsupported says that a file has something that a package does not read, or that a value
	// cannot be written in the format.
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

// ReadAt fills b with the bytes of r at offset at. If r ends before, it returns [ErrCorrupt].
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

// Foreign describes a file of another format that begins with b, and names the package that opens
// it, as the end of the text of an error; "" if this module knows no such format.
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

// An Error is an error about a file or a part of it.
type Error struct {
	Op   string // "open", "read", "save", "write" or "close"; "" until Failed adds it
	Path string // as the caller named it; "" for a reader or a writer
	Name string // name of a part of the file; "" for the whole
	Err  error
}

// maxText bounds the text of a reason, in bytes, approximately.
const maxText = 700

// Error returns the operation, the path, the name and the reason. A very long reason, which names
// in a damaged file can cause, is cut in the middle.
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

// In returns err as an [Error] about a part of a file; nil and an Error stay as they are. [Failed]
// adds operation and path.
func In(name string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok || err == nil {
		return err
	}
	return &Error{Name: name, Err: err}
}

// Failed returns err as an [Error]; nil stays nil. It adds operation and path to an Error of [In],
// and returns another Error as it is.
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

// SaveFailed returns err as an [Error] about saving the file at path; nil stays nil. It keeps the
// name in an Error about a part.
func SaveFailed(path string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Path == "" {
		return &Error{"save", path, e.Name, e.Err}
	}
	return &Error{Op: "save", Path: path, Err: errtext.Bare(err)}
}

// Mapped returns a function that makes an [Error] of an error of the mapped file at path. A file
// that is not regular, or too short, is [ErrCorrupt].
func Mapped(path string) func(op, name string, err error) error {
	return func(op, name string, err error) error {
		err = errtext.Bare(err)
		if errors.Is(err, mapping.ErrNotRegular) || errors.Is(err, mapping.ErrSize) {
			err = Corrupt("%w", err)
		}
		return &Error{op, path, name, err}
	}
}
