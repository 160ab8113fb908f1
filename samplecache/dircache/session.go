package dircache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-tensordict/tensordict/internal/bell"
	"github.com/go-tensordict/tensordict/internal/host"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
)

// A session is a process's part in the cache of a directory. It implements samplecache.Session.
type session struct {
	dir    string // as it was given, for errors
	at     string // absolute
	opt    samplecache.Options
	place  fs.FileInfo // of the directory
	fixed  *manifest   // of which only what never changes is used
	schema *tdict.TensorDict
	layout layout

	control *mapping.Mapping
	me      int    // its entry among the peers
	join    uint64 // which join it was
	bell    *bell.Bell

	calls    gate            // calls under way
	locking  chan struct{}   // has room for one who asks for the lock
	kicked   chan struct{}   // has room for one reason to look around
	life     context.Context // until Close
	end      context.CancelFunc
	ended    sync.WaitGroup // for those who work
	reported sync.WaitGroup // for who calls OnError

	opening sync.Mutex // held while a generation is mapped
	mu      sync.Mutex
	changed chan struct{}      // closed when something has changed
	peers   map[int]*neighbour // by their entries
	filling uint64             // a generation, and its store
	filled  *writer
	writers map[any]*writer  // stores mapped to be written, by vfs.FileID of their directories
	rows    map[*row]bool    // slots that are neither committed nor aborted
	held    map[uint64]*hold // generations that are read
	timers  map[uint64]*time.Timer

	complaints chan error                 // for OnError
	known      knownManifest              // guarded by the lock
	letOne     atomic.Bool                // a generation was let go since a store was looked for
	trouble    atomic.Pointer[error]      // of the last goOn of this process; nil in it
	alarmed    atomic.Bool                // those who wait will be woken in a while
	untidy     atomic.Bool                // a seat was given up, and the lock was not to be had
	verified   map[uint64][]atomic.Uint64 // rows whose sums agreed, a bit each
}

// ID implements samplecache.Session.
func (s *session) ID() string { return s.fixed.ID }

// Config implements samplecache.Session.
func (s *session) Config() samplecache.Config { return s.fixed.Config }

// Schema implements samplecache.Session.
func (s *session) Schema() *tdict.TensorDict { return s.schema }

// path returns the path of a file of the cache.
func (s *session) path(name string) string { return filepath.Join(s.at, name) }

// An Error says which file of a cache is at fault.
type Error struct {
	Op   string // "create", "open", "publish" ...
	Dir  string // the directory, as it was given
	Path string // relative to Dir; "" for the directory itself
	Err  error
}

// Error returns the text: operation, directory, file and reason.
func (e *Error) Error() string {
	return fmt.Sprintf("%s %s: %v", e.Op, filepath.Join(e.Dir, e.Path), e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// fail returns an error about a file of the cache.
func (s *session) fail(path string, err error) error { return failed("use", s.dir, path, err) }

// failed returns err, if there is one, as one about a file.
func failed(op, dir, path string, err error) error {
	if err == nil || errors.Is(err, samplecache.ErrBlocked) {
		return err
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return &Error{op, dir, path, err}
}

// now returns the time since the machine was started, in microseconds.
func now() uint64 { return uint64(host.Monotonic() / time.Microsecond) }

// since returns how long ago a moment was.
func since(us uint64) time.Duration { return host.Monotonic() - time.Duration(us)*time.Microsecond }

// call runs fn, unless the session is closed.
func (s *session) call(fn func() error) error {
	if !s.calls.enter() {
		return s.closed()
	}
	defer s.calls.leave()
	return fn()
}

// closed returns the error of a session that is closed.
func (s *session) closed() error { return fmt.Errorf("cache %s: %w", s.dir, samplecache.ErrClosed) }

// Latest implements samplecache.Session.
func (s *session) Latest(context.Context) (id uint64, err error) {
	err = s.call(func() error { return s.use(func(w words) { id = w.load(latestWord) }) })
	return id, err
}

// Close implements samplecache.Session. What an operation of the user is writing to is let go when
// that ends.
func (s *session) Close() error {
	empty, first := s.calls.close()
	if !first {
		return samplecache.ErrClosed
	}
	s.end()
	s.hear()
	<-empty
	idle, err := s.letGo()
	if idle == nil {
		return errors.Join(err, s.leave())
	}
	go func() {
		for _, done := range idle {
			<-done
		}
		_ = s.leave() // others bury who could not
	}()
	return err
}

// letGo ends slots and generations. It returns what to wait for before the slots are free.
func (s *session) letGo() (idle []<-chan struct{}, err error) {
	s.mu.Lock()
	for r := range s.rows {
		done, _ := r.gate.close()
		idle = append(idle, done)
	}
	var readers []*rows
	for _, h := range s.held {
		readers = slices.AppendSeq(readers, maps.Keys(h.users))
	}
	s.mu.Unlock()
	for _, r := range readers {
		if failed := r.Close(); !errors.Is(failed, samplecache.ErrClosed) {
			err = errors.Join(err, failed)
		}
	}
	for _, done := range idle {
		select {
		case <-done:
		default:
			return idle, err
		}
	}
	return nil, err
}

// patience is how long Close waits for the lock. Others bury who has not done it for himself.
const patience = time.Second

// leave takes the session out of the cache, as if its process had died, and frees what it has.
func (s *session) leave() error {
	err := s.bell.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if failed := s.lockedUntil(ctx, nil, s.buryMyself); !errors.Is(failed, context.DeadlineExceeded) {
		err = errors.Join(err, failed)
	}
	s.tell(wantsBig)
	s.mu.Lock()
	for _, p := range s.peers {
		err = errors.Join(err, p.line.Close())
	}
	for _, w := range s.writers {
		err = errors.Join(err, w.close())
	}
	s.mu.Unlock()
	s.ended.Wait()
	close(s.complaints)
	s.reported.Wait()
	return errors.Join(err, s.control.Close())
}

// buryMyself takes the session out of the peers, unless others have done so. The lock is held.
func (s *session) buryMyself() error {
	var join uint64
	err := s.use(func(w words) { join = w.load(s.layout.peer(s.me) + peerJoin) })
	if err != nil || join != s.join {
		return err
	}
	return s.bury(s.me)
}
