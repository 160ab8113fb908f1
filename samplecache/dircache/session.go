package dircache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/samplecache/dircache/internal/host"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// A session is a member of the cache in a directory. It implements engine.Session.
type session struct {
	dir   string // as the caller gave it, for errors
	at    string // absolute
	place fs.FileInfo
	opt   engine.Options
	mode  mapping.Mode // ReadOnly for an observer: see observe.go
	about engine.About
	fixed *manifest // read by the join; only the fields that never change are used

	file    *os.File // the control file
	locks   *vfs.Numbers
	control *mapping.Mapping
	words   words       // of control
	here    fs.FileInfo // of file
	entered bool        // the session has an entry in the table of sessions
	me      int         // that entry

	calls  sync.RWMutex // read-locked during calls
	closed bool

	locking sync.Mutex // locked by the goroutine that has the lock
	watch   watch

	mu      sync.Mutex
	cursor  cursor
	rows    map[int]*row    // by slot
	numbers map[int64]int64 // locked numbers of names and holders: first number -> count
	open    map[*rows]bool
	stores  map[any]*writer // mapped stores, by vfs.FileID of their directories
	read    map[any]*writer // leaves that are mapped for reading, too
	filled  *writer         // the store of generation filling, or nil
	filling uint64
	trouble error // error of the last advance
}

// newSession returns a session that has not joined yet.
func newSession(dir, at string, m *manifest, mode mapping.Mode, opt engine.Options) (*session, error) {
	schema, err := m.dict()
	if err != nil {
		return nil, failed("open", dir, manifestName, err)
	}
	s := &session{
		dir: dir, at: at, opt: opt, mode: mode, fixed: m,
		about: engine.About{ID: m.ID, Config: m.Config, Schema: schema, Lease: 200 * time.Millisecond},
		rows:  map[int]*row{}, numbers: map[int64]int64{}, open: map[*rows]bool{},
		stores: map[any]*writer{}, read: map[any]*writer{},
	}
	s.place, err = os.Stat(at)
	return s, err
}

func (s *session) About() engine.About { return s.about }

// samples returns the number of samples of a generation.
func (s *session) samples() int { return s.fixed.Config.Samples }

// path returns the path of a file of the cache.
func (s *session) path(name string) string { return filepath.Join(s.at, name) }

// now returns the time since the machine was started, in microseconds.
func now() uint64 { return uint64(host.Monotonic() / time.Microsecond) }

// since returns how long ago the time us was.
func since(us uint64) time.Duration {
	return max(host.Monotonic()-time.Duration(us)*time.Microsecond, 0)
}

// passed reports whether more than d has passed since the time us. It returns true for a time in
// the future, which only a damaged word has.
func passed(us uint64, d time.Duration) bool { return us > now() || since(us) > d }

// call calls fn, unless the session is closed. Calls do not nest. If fn is blocked, and the cache
// is not there any more, call returns that: nobody would end the wait.
func (s *session) call(fn func() error) error {
	s.calls.RLock()
	defer s.calls.RUnlock()
	if s.closed {
		return fmt.Errorf("cache %s: %w", s.dir, engine.ErrClosed)
	}
	err := s.guard(fn)
	if errors.Is(err, engine.ErrBlocked) {
		err = cmp.Or(s.present(), err)
	}
	return err
}

// callValue is call for functions that return a value. If there is an error, the value is zero.
func callValue[T any](s *session, fn func() (T, error)) (v T, err error) {
	if err = s.call(func() (err error) { v, err = fn(); return err }); err != nil {
		v = *new(T)
	}
	return v, err
}

// guard calls fn. If fn faults, a mapped file was truncated, and guard returns an error that names
// the file. Everything that fn did before the fault stays done.
func (s *session) guard(fn func() error) (err error) {
	fault, _ := mapping.Guard(func() { err = fn() }).(*mapping.FaultError)
	switch {
	case fault == nil && errors.Is(err, engine.ErrCorrupt):
		return s.fail(controlName, err) // other files are named already
	case fault == nil:
		return err
	}
	name, _ := filepath.Rel(s.at, fault.File)
	if filepath.Base(name) == recordsName { // its store may have been renamed since it was mapped
		s.mu.Lock()
		defer s.mu.Unlock()
		name = recordsPath(s.filling)
	}
	return s.fail(name, fmt.Errorf("%w: the file was truncated", engine.ErrCorrupt))
}

func (s *session) Latest(context.Context) (uint64, error) {
	return callValue(s, func() (uint64, error) {
		if err := s.present(); err != nil {
			return 0, err
		}
		return s.words.sealed(latestWord)
	})
}

// errRemoved says that the cache of the session is not there any more.
var errRemoved = fmt.Errorf("%w: the cache was removed or replaced", fs.ErrNotExist)

// present returns an error unless the control file of the session is where it was. A directory may
// be removed and made again with the same number; the file cannot, since the session has it open.
func (s *session) present() error {
	info, err := os.Lstat(s.path(controlName))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, s.here) {
		err = errRemoved
	}
	return s.fail("", err)
}

// Close implements engine.Session. Closing the control file frees all locks.
func (s *session) Close() error {
	s.calls.Lock()
	closed := s.closed
	s.closed = true
	s.calls.Unlock()
	if closed {
		return engine.ErrClosed
	}
	s.watch.end()
	_ = s.guard(s.raise) // wakes the watch
	s.watch.ended.Wait()
	var err error
	for r := range s.open {
		err = errors.Join(err, r.end())
	}
	return errors.Join(err, s.guard(s.leave), s.closeFiles())
}

// leave releases everything that the session holds. If it cannot complete an operation, other
// sessions do.
func (s *session) leave() error {
	for at := range s.numbers {
		_ = s.release(at)
	}
	s.searchAgain()
	_ = s.locked(s.advance)
	s.words.session(s.me).Store(0)
	return errors.Join(s.locks.UnlockAll(), s.raise())
}

// closeFiles closes the files of the session.
func (s *session) closeFiles() (err error) {
	for _, stores := range []map[any]*writer{s.stores, s.read} {
		for _, w := range stores {
			err = errors.Join(err, w.close())
		}
	}
	if s.control != nil {
		s.control.Release()
		err = errors.Join(err, s.control.Close())
	}
	if s.file != nil {
		err = errors.Join(err, s.locks.UnlockAll(), s.file.Close())
	}
	return err
}
