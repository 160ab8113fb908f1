package workers

import (
	"fmt"
	"runtime/debug"
)

// A PanicError says which item panicked.
type PanicError struct {
	Item  int
	Value any    // what was given to panic
	Stack []byte // of the goroutine, as debug.Stack formats it
}

// Error returns the text: the item and the value.
func (e *PanicError) Error() string { return fmt.Sprintf("item %d: panic: %v", e.Item, e.Value) }

// Unwrap returns the value if it is an error, and nil if not.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// call returns fn(item), or a [*PanicError] if that panics.
func call(fn func(item int) error, item int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Item: item, Value: v, Stack: debug.Stack()}
		}
	}()
	return fn(item)
}
