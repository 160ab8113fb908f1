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

// A FaultError is a memory fault. It says in which file it happened, if the address lies in a live
// [Mapping] and not in a copy. A copy that runs across the end of a file may fault at any byte
// beyond it, not just the first. It wraps [ErrFault].
type FaultError struct {
	Addr   uintptr // a number to compare, not a way to the byte
	File   string  // as it was called when it was mapped; "" if it is not known
	Offset int     // in File
}

// Error returns the text: the fault and where it is.
func (e *FaultError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("%v: at address %#x", ErrFault, e.Addr)
	}
	return fmt.Sprintf("%v: at byte %d of %s", ErrFault, e.Offset, e.File)
}

// Unwrap returns [ErrFault].
func (e *FaultError) Unwrap() error { return ErrFault }
