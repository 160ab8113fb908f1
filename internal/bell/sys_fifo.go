//go:build unix && !solaris && !aix

package bell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Supported reports whether this system has FIFOs to make bells of.
const Supported = true

// hang makes a FIFO and opens it for reading. It opens it for writing too: then it is never at its
// end, whoever comes and goes.
func hang(path string) (*os.File, syscall.RawConn, error) {
	if err := again(func() error { return unix.Mkfifo(path, 0o666) }); err != nil {
		return nil, nil, &fs.PathError{Op: "mkfifo", Path: path, Err: err}
	}
	file, conn, err := open(path, unix.O_RDWR)
	if err != nil {
		return nil, nil, errors.Join(err, os.Remove(path))
	}
	return file, conn, nil
}

// dial opens the write end of a FIFO that somebody reads.
func dial(path string) (*os.File, syscall.RawConn, error) {
	file, conn, err := open(path, unix.O_WRONLY)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENXIO) && wasFIFO(path) {
		err = fmt.Errorf("%w: %w", ErrDead, err)
	}
	return file, conn, err
}

// wasFIFO reports whether there is a FIFO, or nothing: another has found it dead and removed it.
func wasFIFO(path string) bool {
	info, err := os.Lstat(path)
	return isFIFO(info, err) || errors.Is(err, fs.ErrNotExist)
}

// open opens a FIFO, and nothing else, and gives it to Go's poller. os.OpenFile would not give it
// one on macOS.
func open(path string, side int) (*os.File, syscall.RawConn, error) {
	fd := -1
	err := again(func() (err error) {
		fd, err = unix.Open(path, side|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	file := os.NewFile(uintptr(fd), path)
	conn, err := poll(file)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, conn, nil
}

// poll returns the connection to Go's poller of a file, if that is a FIFO that the poller knows.
func poll(file *os.File) (syscall.RawConn, error) {
	if !isFIFO(file.Stat()) {
		return nil, fmt.Errorf("%s: not a FIFO", file.Name())
	}
	if err := file.SetDeadline(time.Time{}); err != nil { // only a file in the poller has deadlines
		return nil, err
	}
	return file.SyscallConn()
}

// isFIFO takes the result of a stat.
func isFIFO(info fs.FileInfo, err error) bool { return err == nil && info.Mode()&fs.ModeNamedPipe != 0 }

// read reads what there is, perhaps nothing.
func read(fd uintptr, buf []byte) (n int, err error) {
	err = again(func() (err error) {
		n, err = unix.Read(int(fd), buf)
		return err
	})
	if err == unix.EAGAIN {
		return 0, nil
	}
	return max(n, 0), err
}

// stroke is what a ring writes.
var stroke = []byte{1}

// ring writes one byte if there is room for it. For descriptors above 2, Go makes an error of
// SIGPIPE.
func ring(fd uintptr) error {
	for {
		switch _, err := unix.Write(int(fd), stroke); err {
		case unix.EINTR:
		case unix.EAGAIN:
			return nil
		case unix.EPIPE:
			return ErrDead
		default:
			return err
		}
	}
}

// dead reports whether nobody reads what is written to fd. Linux says POLLERR, others POLLHUP, and
// macOS says so only if it is asked for something.
func dead(fd uintptr) bool {
	ask := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	err := again(func() error {
		_, err := unix.Poll(ask, 0)
		return err
	})
	return err == nil && ask[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0
}

// again calls f until no signal interrupts it.
func again(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}
