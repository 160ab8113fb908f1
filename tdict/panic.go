package tdict

import (
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
