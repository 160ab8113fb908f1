package bell

import (
	"os"
	"syscall"
)

// A Bell is a FIFO that this process holds open for reading. It lives until Close, the end of the
// process, or the collector finds it unreachable.
//
// Wait belongs to one goroutine at a time; Close may be called by any.
type Bell struct {
	file *os.File
	conn syscall.RawConn
	buf  [4096]byte // of Wait
	err  error      // of Wait's last read
}

// Hang makes a FIFO at a path and holds it open for reading. All may ring it whom the umask lets
// write. Close does not remove it.
//
// Hang returns [fs.ErrExist] if something is at the path, and [errors.ErrUnsupported] where
// [Supported] is false. If it returns an error, it leaves no file behind.
func Hang(path string) (*Bell, error) {
	file, conn, err := hang(path)
	if err != nil {
		return nil, err
	}
	return &Bell{file: file, conn: conn}, nil
}

// Wait blocks until the bell was rung since the last Wait returned, once or many times, and returns
// nil. What a process did before it rang, it has done when Wait returns. Now and then Wait returns
// without a ring, after a flood of them.
//
// Wait returns [os.ErrClosed] if the Bell is closed, also while it waits.
func (b *Bell) Wait() error {
	if err := b.conn.Read(b.heard); err != nil {
		return os.ErrClosed // hang made sure that the poller knows the file: nothing else can be
	}
	return b.err
}

// pipeful is how many times buf as many bytes are as wait at most in a FIFO that nobody enlarged.
const pipeful = 16

// heard takes all rings there are and reports whether there were any, or an error in their stead.
// It stops at some point even if others ring faster than it reads.
func (b *Bell) heard(fd uintptr) (done bool) {
	b.err = nil
	for range pipeful {
		n, err := read(fd, b.buf[:])
		if err != nil {
			b.err = &os.PathError{Op: "read", Path: b.file.Name(), Err: err}
			return true
		}
		done = done || n > 0
		if n < len(b.buf) {
			break
		}
	}
	return done
}

// Close takes the bell down: a running Wait returns, and all who hold a [Line] to it find it dead.
// It does not remove the file. The second call returns [os.ErrClosed].
func (b *Bell) Close() error { return b.file.Close() }
