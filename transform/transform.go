package transform

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/tdict"
)

// ErrNumber says that a number is invalid: a probability that is not from 0 to 1, or a statistic
// that is not finite.
var ErrNumber = errors.New("unusable number")

// A Transform is a function from dictionary to dictionary. Implementations must be safe for
// concurrent use.
type Transform interface {
	// Apply returns the result for td, which it does not change. Random numbers come from d; a
	// transform without random numbers may be given the zero Draw.
	Apply(td *tdict.TensorDict, d Draw) (*tdict.TensorDict, error)

	// String describes the transform in one line, followed by indented lines for the transforms in
	// it.
	String() string
}

// Func returns a transform that calls fn. name is for String, and for the errors of a [Compose]. fn
// gets its own dictionary: it may set and delete entries, and return the same dictionary. Leaves
// are shared, and fn must not write to their elements. fn must be safe for concurrent use.
func Func(name string, fn func(td *tdict.TensorDict) (*tdict.TensorDict, error)) Transform {
	if fn == nil {
		return Random(name, nil)
	}
	return Random(name, func(td *tdict.TensorDict, _ Draw) (*tdict.TensorDict, error) { return fn(td) })
}

// Random is [Func] for a function that draws random numbers, with [Draw.Each].
func Random(name string, fn func(td *tdict.TensorDict, d Draw) (*tdict.TensorDict, error)) Transform {
	return &function{name, fn}
}

// A function is the transform of Func and Random.
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
