package mapping

import "errors"

var (
	// ErrClosed reports the use of a Mapping after Close began.
	ErrClosed = errors.New("mapping closed")

	// ErrFault reports a load or store that mapped memory refused: beyond the end of a file that was
	// cut, or a store to bytes that were mapped ReadOnly.
	ErrFault = errors.New("fault in mapped memory")

	// ErrSize reports a size that cannot be mapped: none at all, or more than the file holds.
	ErrSize = errors.New("size cannot be mapped")

	// ErrNotRegular reports a file that is not a regular file: a directory, a pipe, a device.
	ErrNotRegular = errors.New("not a regular file")
)
