package feed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// A socket is a listening unix socket and its file.
type socket struct {
	listener *net.UnixListener
	path     string
	file     fs.FileInfo
}

// socketMode is the mode of the file of a socket.
const socketMode = 0o600

// lockTime is how long listen waits for another feed that is looking at the same directory.
const lockTime = 2 * time.Second

// listen makes a socket at path. It removes a socket there if nobody listens on it.
func listen(path string) (s *socket, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if len(path) > maxPath {
		return nil, fmt.Errorf("socket %s: %w: got a path of %d bytes, want at most %d", path, fs.ErrInvalid, len(path), maxPath)
	}
	unlock, err := lockDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := vacate(path); err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	l, err := bind(path)
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	file, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &socket{l, path, file}, nil
}

// lockDir locks a directory, so that two feeds do not replace a socket in it at the same time. It
// waits for another feed. Where directories cannot be locked, it does nothing.
func lockDir(dir string) (unlock func() error, err error) {
	for end := time.Now().Add(lockTime); ; time.Sleep(10 * time.Millisecond) {
		unlock, err := vfs.OS.Hold(dir)
		switch {
		case !errors.Is(err, vfs.ErrHeld):
			return unlock, err
		case time.Now().After(end):
			return nil, fmt.Errorf("%w: %w", ErrBusy, err)
		}
	}
}

// vacate removes a socket at path on which nobody listens.
func vacate(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%w, and is not a socket", fs.ErrExist)
	}
	if uid := owner(info); uid != os.Geteuid() {
		return fmt.Errorf("%w: it belongs to user %d", fs.ErrPermission, uid)
	}
	conn, err := net.DialTimeout("unix", path, lockTime)
	if err == nil {
		return errors.Join(fmt.Errorf("%w: another feed listens", ErrBusy), conn.Close())
	}
	if errors.Is(err, fs.ErrNotExist) { // the other feed has just ended
		return nil
	}
	if !refused(err) {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return os.Remove(path)
}

// refuse ends accepting: consumers that dial are refused.
func (s *socket) refuse() { _ = s.listener.Close() }

// close removes the file and closes the socket.
func (s *socket) close() error {
	err := s.remove()
	if closed := s.listener.Close(); !errors.Is(closed, net.ErrClosed) { // after refuse
		err = errors.Join(err, closed)
	}
	return err
}

// remove removes the file, unless another has replaced it. After refuse the number of the file may
// be another's, but not with the same time. Meanwhile no other feed takes the socket.
func (s *socket) remove() error {
	unlock, err := lockDir(filepath.Dir(s.path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	now, failed := os.Lstat(s.path)
	if failed == nil && os.SameFile(now, s.file) && now.ModTime().Equal(s.file.ModTime()) {
		err = os.Remove(s.path)
	}
	return errors.Join(err, unlock())
}

// dial connects to the socket at path. It must belong to this user or to root.
func dial(ctx context.Context, path string) (*net.UnixConn, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if uid := owner(info); uid != os.Geteuid() && uid != 0 {
		return nil, fmt.Errorf("socket %s: %w: it belongs to user %d", path, fs.ErrPermission, uid)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	return conn.(*net.UnixConn), nil
}
