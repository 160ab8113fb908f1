package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/workers"
)

// A PanicError is the panic of a function that the caller passed to an operation, such as [Apply]
// or [MapChunks]. Value is the argument of panic; the PanicError wraps it if it is an error. Stack
// is the stack of the goroutine, as debug.Stack formats it. The operation returns the PanicError
// inside a [KeyError] or a [RowsError], which says where the function panicked.
//
//	if p, ok := errors.AsType[*tdict.PanicError](err); ok {
//		log.Printf("%v\n%s", err, p.Stack)
//	}
type PanicError = workers.PanicError

var errNoFunc = fmt.Errorf("%w: got a nil function", ErrKind)
