package pickstack

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/tensor"
)

// ErrOptions says that an option has a value that it must not have.
var ErrOptions = errors.New("unusable options of a pool")

// An InputError says which input an error is about: its index or pools, or the tensor. What is
// wrong with the gradient of an input, or with two tensors that overlap, only the text says.
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
