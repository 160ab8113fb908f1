package tdict

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
)

// The reasons why an operation on an entry fails, apart from its shape and dtype.
var (
	ErrMissing = errors.New("missing key")
	ErrExists  = errors.New("key exists")
	ErrNotDict = errors.New("not a dictionary")
	ErrLocked  = errors.New("locked")
	ErrCycle   = errors.New("dictionary would contain itself")
	ErrDepth   = errors.New("nested too deep")
	ErrDiffers = errors.New("values differ")
	ErrName    = errors.New("bad name")
	ErrSchema  = errors.New("schema mismatch")
	ErrKind    = shapeops.ErrKind
)

// MaxDepth is the deepest nesting of dictionaries, and of the lists and objects in [Data].
const MaxDepth = 256

var (
	errDepth = fmt.Errorf("%w: dictionaries are nested more than %d deep", ErrDepth, MaxDepth)
	errNil   = fmt.Errorf("%w: got a nil dictionary", ErrKind)
)

// A KeyError is an error of an operation, with the key of the entry that it is about.
type KeyError struct {
	Op  string        // the method, in lower case: "set", "index"
	Key nestedkey.Key // the key in the dictionary that the method was called on
	Err error         // the reason
}

// Error returns the text: operation, key, reason.
func (e *KeyError) Error() string { return fmt.Sprintf("%s %q: %v", e.Op, string(e.Key), e.Err) }

// Unwrap returns the reason.
func (e *KeyError) Unwrap() error { return e.Err }

// within prepends the name of an outer dictionary's entry to the key of a KeyError. Of another
// error it makes a KeyError with that name.
func within(op string, name nestedkey.Key, err error) error {
	if inner, ok := err.(*KeyError); ok {
		return &KeyError{op, nestedkey.Join(name, inner.Key), inner.Err}
	}
	return &KeyError{op, name, err}
}

// failed adds the name of the operation to an error. It returns nil for nil.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	if inner, ok := err.(*KeyError); ok {
		return &KeyError{op, inner.Key, inner.Err}
	}
	return fmt.Errorf("%s: %w", op, err)
}
