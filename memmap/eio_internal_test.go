package memmap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKnown has errors that are not of the content of a file.
func TestKnown(t *testing.T) {
	for _, err := range []error{
		syscall.EIO, &fs.PathError{Op: "read", Path: "x", Err: syscall.EIO}, fmt.Errorf("%w: read", ErrFault),
		fileError("open", "d", "x", os.NewSyscallError("fstat", syscall.EIO)), corrupt("x"), unsupported("x"),
	} {
		require.True(t, known(err), "%v", err)
	}
	require.False(t, known(errors.New("a shape")))
}
