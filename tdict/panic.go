package tdict

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/workers"
)

// A PanicError is the panic of a function that an operation was given, such as [Apply] or [Map]. It
// has the Value that was given to panic, which it wraps if that is an error, and the Stack of the
// goroutine, as debug.Stack formats it. It is within the error that says where: a [KeyError] or a
// [RowsError].
//
//	if p, ok := errors.AsType[*tdict.PanicError](err); ok {
//		log.Printf("%v\n%s", err, p.Stack)
//	}
type PanicError = workers.PanicError

var errNoFunc = fmt.Errorf("%w: got a nil function", ErrKind)

// guarded returns fn(), or an error if that panics.
func guarded(fn func() error) error {
	err := workers.Do(context.Background(), 1, 1, func(int) error { return fn() })
	if p, ok := err.(*PanicError); ok {
		return &panicked{p}
	}
	return err
}

// A panicked is a panic of the only item.
type panicked struct{ cause *PanicError }

// Error returns the text: that of the value.
func (e *panicked) Error() string { return fmt.Sprintf("panic: %v", e.cause.Value) }

// Unwrap returns the panic.
func (e *panicked) Unwrap() error { return e.cause }
