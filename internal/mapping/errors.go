package mapping

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed reports the use of a Mapping after Close began.
	ErrClosed = errors.New("already closed")

	// ErrFault reports a load or store that mapped memory refused: beyond the end of a file that
	// was cut, or a store to bytes that were mapped ReadOnly.
	ErrFault = errors.New("fault in mapped memory")

	// ErrSize reports a size that cannot be mapped: none at all, or more than the file holds.
	ErrSize = errors.New("size cannot be mapped")

	// ErrLimit reports a mapping beyond [Limit].
	ErrLimit = errors.New("too many mapped files")

	// ErrNotRegular reports a file that is not a regular file: a directory, a pipe, a device.
	ErrNotRegular = errors.New("not a regular file")
)

// A FaultError is a memory fault at an address, which says in whose bytes it happened. A copy that
// runs across the end of a file may fault at any byte beyond it, not just the first. It wraps
// [ErrFault].
type FaultError struct {
	Addr uintptr // a number to compare, not a way to the byte
}

// Error returns the text: the fault and its address.
func (e *FaultError) Error() string { return fmt.Sprintf("%v: at address %#x", ErrFault, e.Addr) }

// Unwrap returns [ErrFault].
func (e *FaultError) Unwrap() error { return ErrFault }
