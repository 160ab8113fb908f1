package tensor

import (
	"fmt"
	"runtime/debug"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/workers"
)

// Map returns a new tensor of t's shape, with fn applied to each element of t:
//
//	t [F...] -> [F...]
//
// fn is called for one element after another, in row-major order. If fn panics, Map returns an
// error that names the element, and that wraps the panic value if it is an error. Map returns
// [ErrDType] if t does not hold T, or holds a bool that is neither 0 nor 1, [ErrMeta] if t is on
// device [Meta], and [ErrKind] if t or fn is nil.
func Map[T, U Elem](t *Tensor, fn func(T) U) (out *Tensor, err error) {
	if err := checkElem[T](t); err != nil {
		return nil, err
	}
	if t.Device() == Meta {
		return nil, ErrMeta
	}
	if fn == nil {
		return nil, fmt.Errorf("%w: got a nil function", ErrKind)
	}
	if out, err = blank(nil, DTypeOf[U](), t.view.Shape, nil); err != nil {
		return nil, err
	}
	to, _ := cast.Slice[U](out.mem.bytes)
	at := 0
	defer func() {
		if v := recover(); v != nil {
			out, err = nil, &panicAt{t.view.Shape.Position(at), &workers.PanicError{Item: at, Value: v, Stack: debug.Stack()}}
		}
	}()
	err = Read(t, func(s []T) {
		for i, v := range s {
			at = i
			to[i] = fn(v)
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// A panicAt is the panic of a function, and the element that it was called for.
type panicAt struct {
	at    []int
	cause *workers.PanicError
}

// Error returns the position and the panic value.
func (e *panicAt) Error() string { return fmt.Sprintf("element %v: panic: %v", e.at, e.cause.Value) }

// Unwrap returns the panic, which wraps its value if that is an error.
func (e *panicAt) Unwrap() error { return e.cause }
