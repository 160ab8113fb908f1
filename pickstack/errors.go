package pickstack

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/tensor"
)

// ErrOptions is returned for an invalid option of a pool.
var ErrOptions = errors.New("unusable options of a pool")

// An InputError says which input an error is about: its index or pools, or its tensor. Errors about
// the gradient of an input, or about two tensors that overlap, name the input only in their text.
type InputError struct {
	Input int
	Err   error
}

// Error returns the text: the number of the input and the reason.
func (e *InputError) Error() string { return fmt.Sprintf("input %d: %v", e.Input, e.Err) }

// Unwrap returns the reason.
func (e *InputError) Unwrap() error { return e.Err }

var (
	errNil    = fmt.Errorf("%w: got a nil tensor", tensor.ErrKind)
	errNoPlan = fmt.Errorf("%w: got an empty plan: NewPick and NewPool make plans", tensor.ErrKind)
)
