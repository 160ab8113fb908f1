package transform

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/tdict"
)

// ErrNumber is the reason for an error about a number that cannot be used: a probability that is
// none, a statistic that is not finite.
var ErrNumber = errors.New("unusable number")

// A Transform makes a dictionary of a dictionary. What implements it must be safe for concurrent
// use.
type Transform interface {
	// Apply returns what the transform makes of td, which it does not change. What is random comes
	// from d; the zero Draw will do for a transform without.
	Apply(td *tdict.TensorDict, d Draw) (*tdict.TensorDict, error)

	// String describes the transform: a line, and those of the transforms in it, indented.
	String() string
}

// Func returns a transform that a function makes, under a name for String, and for the errors of a
// [Compose]. The dictionary that fn is given is its own: it may set and delete entries, and return
// it; but leaves are shared, and their elements must not be written to. fn must be safe for
// concurrent use.
func Func(name string, fn func(td *tdict.TensorDict) (*tdict.TensorDict, error)) Transform {
	if fn == nil {
		return Random(name, nil)
	}
	return Random(name, func(td *tdict.TensorDict, _ Draw) (*tdict.TensorDict, error) { return fn(td) })
}

// Random is [Func] with random numbers, which fn draws with [Draw.Each].
func Random(name string, fn func(td *tdict.TensorDict, d Draw) (*tdict.TensorDict, error)) Transform {
	return &function{name, fn}
}

// A function is a transform that a function makes.
type function struct {
	name string
	fn   func(td *tdict.TensorDict, d Draw) (*tdict.TensorDict, error)
}

func (f *function) String() string { return f.name }

func (f *function) Apply(td *tdict.TensorDict, d Draw) (*tdict.TensorDict, error) {
	switch {
	case td == nil:
		return nil, fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind)
	case f.fn == nil:
		return nil, fmt.Errorf("%w: got a nil function", tdict.ErrKind)
	}
	return f.fn(td.Copy(), d)
}

// named returns an error under the name of an operation, in the place of that which found it.
func named(op string, err error) error {
	if inner, ok := err.(*tdict.KeyError); ok {
		return &tdict.KeyError{Op: op, Key: inner.Key, Err: inner.Err}
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", op, err)
}
