package errtext

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// A KeyError is an error of an operation on a dictionary, with the key of the entry that it is
// about. Package tdict says more.
type KeyError struct {
	Op  string        // the operation, in lower case: "set", "index"
	Key nestedkey.Key // the key in the dictionary that the operation was called on
	Err error         // the reason
}

// Error returns the text: operation, key, reason.
func (e *KeyError) Error() string {
	if e.Op == "" {
		return fmt.Sprintf("%q: %v", string(e.Key), e.Err)
	}
	return fmt.Sprintf("%s %q: %v", e.Op, string(e.Key), e.Err)
}

// Unwrap returns the reason.
func (e *KeyError) Unwrap() error { return e.Err }

// Named adds the name of the operation that the user called to an error; a KeyError gets it as its
// operation. An error that has the name already keeps it once. Named returns nil for nil.
func Named(op string, err error) error {
	switch e := err.(type) {
	case nil:
		return nil
	case *KeyError:
		if inner, ok := e.Err.(*named); ok && inner.op == op {
			return &KeyError{op, e.Key, inner.err}
		}
		return &KeyError{op, e.Key, e.Err}
	case *named:
		if e.op == op {
			return e
		}
	}
	return &named{op, err}
}

// A named is an error that begins with an operation.
type named struct {
	op  string
	err error
}

func (e *named) Error() string { return e.op + ": " + e.err.Error() }

func (e *named) Unwrap() error { return e.err }

// Name is [Named] of the error that a function is about to return, to be deferred:
//
//	defer errtext.Name("index", &err)
func Name(op string, err *error) { *err = Named(op, *err) }
