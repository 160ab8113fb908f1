package workers

import (
	"fmt"
	"runtime/debug"
)

// A PanicError is a panic in an item.
type PanicError struct {
	Item  int
	Value any    // the argument of panic
	Stack []byte // of the goroutine, as debug.Stack formats it
}

// Error returns the item and the value.
func (e *PanicError) Error() string { return fmt.Sprintf("item %d: panic: %v", e.Item, e.Value) }

// Unwrap returns the value if it is an error, otherwise nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// call returns fn(item), or a [*PanicError] if it panics.
func call(fn func(item int) error, item int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Item: item, Value: v, Stack: debug.Stack()}
		}
	}()
	return fn(item)
}

// Call returns fn(). If fn panics, Call returns an error with the text "panic: " and the value,
// which wraps a [*PanicError]. Safe for concurrent use.
func Call(fn func() error) error {
	err := call(func(int) error { return fn() }, 0)
	if p, ok := err.(*PanicError); ok {
		return &panicked{p}
	}
	return err
}

// A panicked is a panic in Call. Its text has no item.
type panicked struct{ cause *PanicError }

// Error returns the value.
func (e *panicked) Error() string { return fmt.Sprintf("panic: %v", e.cause.Value) }

// Unwrap returns the panic.
func (e *panicked) Unwrap() error { return e.cause }
