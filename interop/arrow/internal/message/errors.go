package message

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
)

// The errors about the content of a file.
var (
	ErrCorrupt     = fileformat.ErrCorrupt
	ErrUnsupported = fileformat.ErrUnsupported
	// ErrMemory says that a part of a file takes more memory than Options.MaxMemory.
	ErrMemory = columns.ErrMemory
)

var corrupt, unsupported = fileformat.Corrupt, fileformat.Unsupported

// An Error says where in a file or a stream an error is.
type Error struct {
	Path   string // as given; "" for a reader
	Part   string // "schema", "footer", "batch 3", "dictionary 7"; "" for the whole
	Column string // with the names of fields in it, as in "a.b"; "" for the part
	Err    error  // the cause
}

// Error returns the path, the part, the column and the cause.
func (e *Error) Error() string {
	text := ""
	for _, s := range []string{e.Path, e.Part} {
		if s != "" {
			text += s + ": "
		}
	}
	if e.Column != "" {
		text += "column " + errtext.Quote(e.Column) + ": "
	}
	return text + errtext.Cut(fmt.Sprint(e.Err), 700)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// In sets path, part and column in an error where it lacks them; nil stays nil.
func In(path, part, column string, err error) error {
	if err == nil {
		return nil
	}
	at := Error{Err: err}
	if e, ok := errors.AsType[*Error](err); ok {
		at = *e
	}
	at.Path, at.Part, at.Column = cmp.Or(at.Path, path), cmp.Or(at.Part, part), cmp.Or(at.Column, column)
	return &at
}

// tooMuch returns ErrMemory.
func tooMuch(got, most int64) error {
	return fmt.Errorf("%w: got %d bytes, want at most %d: raise MaxMemory", ErrMemory, got, most)
}

// Try calls fn, which calls the library. A panic becomes [ErrCorrupt], except for ErrMemory of an
// allocator, and for a memory fault, which mapping.Guard handles.
func Try(fn func() error) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			panic(v)
		case error:
			if err = v; !errors.Is(v, ErrMemory) {
				err = corrupt("%v", v)
			}
		default:
			err = corrupt("%v", v)
		}
	}()
	return fn()
}
