package mapping

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed reports the use of a Mapping after Close began.
	ErrClosed = errors.New("already closed")

	// ErrFault reports a fault of a load or store in mapped memory: beyond the end of a file that
	// was truncated, or a store to bytes that were mapped ReadOnly.
	ErrFault = errors.New("fault in mapped memory")

	// ErrSize reports a size that cannot be mapped: zero, or more than the file holds.
	ErrSize = errors.New("size cannot be mapped")

	// ErrLimit reports a mapping beyond [Limit].
	ErrLimit = errors.New("too many mapped files")

	// ErrNotRegular reports a file that is not a regular file: a directory, a pipe, a device.
	ErrNotRegular = errors.New("not a regular file")
)

// A FaultError is a memory fault. It has the file, if the address is in a live [Mapping] that is
// not a copy. A copy operation across the end of a file may fault at any byte beyond the end, not
// just the first. FaultError wraps [ErrFault].
type FaultError struct {
	Addr   uintptr // for comparison; not a pointer
	File   string  // name when it was mapped; "" if unknown
	Offset int     // in File
}

// Error returns the fault and its location.
func (e *FaultError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("%v: at address %#x", ErrFault, e.Addr)
	}
	return fmt.Sprintf("%v: at byte %d of %s", ErrFault, e.Offset, e.File)
}

// Unwrap returns [ErrFault].
func (e *FaultError) Unwrap() error { return ErrFault }
