package tdict

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
)

// What can be wrong with an entry, besides its shape and dtype.
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

// MaxDepth is how deep dictionaries, and the lists and objects of [Data], may be nested.
const MaxDepth = 256

var (
	errDepth = fmt.Errorf("%w: dictionaries are nested more than %d deep", ErrDepth, MaxDepth)
	errNil   = fmt.Errorf("%w: got a nil dictionary", ErrKind)
)

// A KeyError says which key of which operation failed.
type KeyError struct {
	Op  string        // the method, in lower case: "set", "index"
	Key nestedkey.Key // as seen from the dictionary that the method was called on
	Err error         // why
}

// Error returns the text: operation, key, reason.
func (e *KeyError) Error() string { return fmt.Sprintf("%s %q: %v", e.Op, string(e.Key), e.Err) }

// Unwrap returns the reason.
func (e *KeyError) Unwrap() error { return e.Err }

// within puts the key of an outer dictionary's entry before that of the error, or makes a KeyError
// of it.
func within(op string, name nestedkey.Key, err error) error {
	if inner, ok := err.(*KeyError); ok {
		return &KeyError{op, nestedkey.Join(name, inner.Key), inner.Err}
	}
	return &KeyError{op, name, err}
}

// failed names the operation of an error that concerns no key of its own.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	if inner, ok := err.(*KeyError); ok {
		return &KeyError{op, inner.Key, inner.Err}
	}
	return fmt.Errorf("%s: %w", op, err)
}
