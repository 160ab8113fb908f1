package bell

import (
	"fmt"
	"os"
	"sync"
	"syscall"
)

// A Line is the write end of another's [Bell]. It lasts until Close, or until the collector finds
// it unreachable. Safe for concurrent use.
type Line struct {
	file *os.File
	conn syscall.RawConn

	mu   sync.Mutex
	pull func(fd uintptr) // made once, so that Ring allocates nothing
	err  error            // of the last pull
}

// Dial opens a line to the bell at a path, without waiting for anybody. It does not follow a
// symbolic link at the end of the path.
//
// Dial returns [ErrDead] if nobody holds the bell or nothing is at the path, another error if it is
// not a FIFO, and [errors.ErrUnsupported] where [Supported] is false.
func Dial(path string) (*Line, error) {
	file, conn, err := dial(path)
	if err != nil {
		return nil, err
	}
	l := &Line{file: file, conn: conn}
	l.pull = func(fd uintptr) { l.err = ring(fd) }
	return l, nil
}

// Ring wakes the process at the other end. It never blocks: if the FIFO is full, there are rings
// enough to wake it.
//
// Ring returns [ErrDead] if the other is gone, and [os.ErrClosed] if the Line is closed. It
// allocates nothing as long as it succeeds.
func (l *Line) Ring() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.conn.Control(l.pull); err != nil {
		return os.ErrClosed
	}
	if l.err != nil {
		return fmt.Errorf("%w: %s", l.err, l.file.Name())
	}
	return nil
}

// Dead blocks until the process at the other end is dead, and returns nil, or until the Line is
// closed, and returns [os.ErrClosed]. Any number of goroutines may call it.
//
// It waits until the poller calls the FIFO writable, not readable: of a write end, epoll says both
// when the reader goes, and kqueue only this one on some systems. That a full FIFO drained wakes it
// too, to no effect.
func (l *Line) Dead() error {
	if err := l.conn.Write(dead); err != nil {
		return os.ErrClosed // dial made sure that the poller knows the file: nothing else can be
	}
	return nil
}

// Alive reports whether a process holds the bell and the Line is not closed.
func (l *Line) Alive() bool {
	alive := false
	err := l.conn.Control(func(fd uintptr) { alive = !dead(fd) })
	return err == nil && alive
}

// Close hangs up: a running Dead returns. The second call returns [os.ErrClosed].
func (l *Line) Close() error { return l.file.Close() }
