package mapping

import "errors"

var (
	// ErrClosed reports the use of a Mapping after Close began.
	ErrClosed = errors.New("mapping closed")

	// ErrFault reports a load or store in mapped memory that no longer has a file behind it.
	ErrFault = errors.New("fault in mapped memory")

	// ErrSize reports a size that cannot be mapped: none at all, or more than the file holds.
	ErrSize = errors.New("size cannot be mapped")

	// ErrNotRegular reports a file that is no regular file: a directory, a pipe, a device.
	ErrNotRegular = errors.New("not a regular file")
)
