//go:build !unix || solaris || aix

package bell

import (
	"errors"
	"os"
	"syscall"
)

// Supported reports whether this system has FIFOs to make bells of.
const Supported = false

// hang cannot be done here, so that nothing below is ever called.
func hang(string) (*os.File, syscall.RawConn, error) { return nil, nil, errors.ErrUnsupported }

// dial cannot be done here.
func dial(string) (*os.File, syscall.RawConn, error) { return nil, nil, errors.ErrUnsupported }

// read cannot be done here.
func read(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }

// ring cannot be done here.
func ring(uintptr) error { return errors.ErrUnsupported }

// dead is what every bell is here.
func dead(uintptr) bool { return true }
