package tdict

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
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

// A KeyError is an error of an operation, with the key of the entry that it is about. It has the
// fields Op, the operation in lower case, such as "set" or "index"; Key, in the dictionary that the
// operation was called on; and Err, the reason, which it wraps.
type KeyError = errtext.KeyError

// within prepends the name of an outer dictionary's entry to the key of a KeyError. Of another
// error it makes a KeyError with that name. Where op is "", the caller names the operation.
func within(op string, name nestedkey.Key, err error) error {
	if inner, ok := err.(*KeyError); ok {
		return failedKey(op, nestedkey.Join(name, inner.Key), inner.Err)
	}
	return failedKey(op, name, err)
}

// failed adds the name of the operation to an error. It returns nil for nil.
func failed(op string, err error) error { return errtext.Named(op, err) }

// failedKey returns a KeyError of err, or nil for nil.
func failedKey(op string, key nestedkey.Key, err error) error {
	if err == nil {
		return nil
	}
	return &KeyError{Op: op, Key: key, Err: err}
}
