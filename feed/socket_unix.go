//go:build linux || darwin

package feed

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// maxPath is the largest length of the path of a socket, which ends with a zero byte.
const maxPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// bind makes a socket file with socketMode and listens on it.
func bind(path string) (*net.UnixListener, error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			_ = syscall.Fchmod(int(fd), socketMode) // Linux makes the file with this mode
		})
	}}
	l, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l.(*net.UnixListener), nil
}

// owner returns the user id of the owner of a file.
func owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}

// refused reports whether a connection failed because nobody listens on the socket.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
