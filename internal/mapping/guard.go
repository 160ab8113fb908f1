package mapping

import (
	"runtime"
	"runtime/debug"
)

// Guard runs fn and turns a memory fault inside it into a [*FaultError]. The effects of fn before
// the fault remain. Any other panic passes through, including a nil dereference.
//
// Guard covers only the calling goroutine, not goroutines that fn starts. Guards nest. Safe for
// concurrent use.
func Guard(fn func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = faultError(r)
		}
	}()
	fn()
	return nil
}

// faultError returns the error for a recovered memory fault. It panics again with anything else.
func faultError(r any) error {
	fault, ok := r.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		panic(r)
	}
	return locate(fault.Addr())
}
