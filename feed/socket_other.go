//go:build !linux && !darwin

package feed

import (
	"errors"
	"io/fs"
	"net"
)

const maxPath = 107

// bind returns errors.ErrUnsupported.
func bind(string) (*net.UnixListener, error) { return nil, errors.ErrUnsupported }

// owner returns -1, which is not a user.
func owner(fs.FileInfo) int { return -1 }

// refused returns false.
func refused(error) bool { return false }
