package dircache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/go-tensordict/tensordict/internal/bell"
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/host"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/samplecache"
)

// An Engine keeps a cache in a directory that [Create] made, for the processes of one machine. The
// zero value of all fields but Dir is the default.
//
// Safe for concurrent use.
type Engine struct {
	// Dir is the directory.
	Dir string
	// Adopt takes over a cache that another machine has used, as after the disk was moved: nobody
	// there may use it any more. By default that is [samplecache.ErrOtherHost].
	Adopt bool
}

var _ samplecache.Engine = Engine{}

// Join implements samplecache.Engine. It buries processes that have died, and completes what they
// had begun. After the machine was started anew, and if the control file is damaged and nobody
// takes part, it makes that again from the MANIFEST and the records, comparing the sums of the
// samples that were not published yet.
//
// It returns an [Error] that says which file is at fault: fs.ErrNotExist if Dir is not a cache,
// [samplecache.ErrCorrupt], [samplecache.ErrOtherHost] if Dir was used on another machine or lies
// on a network file system, and [errors.ErrUnsupported] for a newer format, and where the system
// has no FIFOs, as Windows.
func (e Engine) Join(ctx context.Context, opt samplecache.Options) (samplecache.Session, error) {
	s, err := e.join(ctx, opt)
	if err != nil {
		return nil, failed("open", e.Dir, "", err)
	}
	return s, nil
}

func (e Engine) join(ctx context.Context, opt samplecache.Options) (*session, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	at, err := e.place()
	if err != nil {
		return nil, err
	}
	m, err := readManifest(at)
	if err != nil {
		return nil, failed("open", e.Dir, manifestName, bare(err))
	}
	s, err := newSession(e.Dir, at, m, opt)
	if err != nil {
		return nil, err
	}
	if err := s.takePart(ctx, e.Adopt); err != nil {
		return nil, errors.Join(err, s.abandon())
	}
	s.watch()
	s.tell(wantsBig)
	s.kick()
	return s, nil
}

// takePart makes the session one of those that take part, with the lock, which nobody can tell it
// of yet.
func (s *session) takePart(ctx context.Context, adopt bool) (err error) {
	if s.place, err = os.Stat(s.at); err != nil {
		return err
	}
	if err := s.checkNames(); err != nil {
		return err
	}
	lock, err := waitLock(ctx, s.path(lockName))
	if err != nil {
		return failed("open", s.dir, lockName, err)
	}
	return errors.Join(s.attach(adopt), lock.Unlock())
}

// checkNames returns [samplecache.ErrCorrupt] unless the lock is a file, and there is a directory
// of peers: what a link leads to is not the cache's.
func (s *session) checkNames() error {
	for name, want := range map[string]fs.FileMode{lockName: 0, peersName: fs.ModeDir} {
		info, err := os.Lstat(s.path(name))
		if err == nil && info.Mode().Type() != want {
			err = fmt.Errorf("%w: got mode %v, want type %v", samplecache.ErrCorrupt, info.Mode(), want)
		}
		if err != nil {
			return failed("open", s.dir, name, bare(err))
		}
	}
	return nil
}

// bare returns the reason of an error that names a file in full.
func bare(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}

// place returns the absolute path of the directory, if it can be used here.
func (e Engine) place() (string, error) {
	if err := usable(e.Dir); err != nil {
		return "", err
	}
	at, err := filepath.Abs(e.Dir)
	if err == nil {
		_, err = os.Stat(at) // whose errors are the system's
	}
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return "", bare(err)
	}
	return at, local(at)
}

// usable returns an error unless caches can be kept on this system, in a directory of that name.
func usable(dir string) error {
	if !bell.Supported || !cast.LittleEndian() {
		return fmt.Errorf("%w on this system", errors.ErrUnsupported)
	}
	if dir == "" {
		return fmt.Errorf("%w: got no directory", fs.ErrInvalid)
	}
	return nil
}

// local returns [samplecache.ErrOtherHost] for a directory of a network file system.
func local(at string) error {
	name, network, err := host.Network(at)
	if err == nil && network {
		err = fmt.Errorf("%w: %s is a network file system, which other machines may use: want a local disk or tmpfs", samplecache.ErrOtherHost, name)
	}
	return bare(err)
}

// newSession returns a session that does not take part yet.
func newSession(dir, at string, m *manifest, opt samplecache.Options) (*session, error) {
	schema, err := m.schema()
	if err != nil {
		return nil, failed("open", dir, manifestName, err)
	}
	s := &session{
		dir: dir, at: at, opt: opt, fixed: m, schema: schema, layout: newLayout(m.Config.Samples),
		locking: make(chan struct{}, 1), kicked: make(chan struct{}, 1), changed: make(chan struct{}), complaints: make(chan error, 16),
		peers: map[int]*neighbour{}, writers: map[any]*writer{}, rows: map[*row]bool{}, held: map[uint64]*hold{},
		timers: map[uint64]*time.Timer{}, verified: map[uint64][]atomic.Uint64{},
	}
	s.life, s.end = context.WithCancel(context.Background())
	return s, nil
}

// waitLock waits for the lock of a cache that is not joined yet, so that nobody can tell.
func waitLock(ctx context.Context, path string) (*vfs.Lock, error) {
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		lock, err := vfs.TryLock(path, vfs.Exclusive)
		if !errors.Is(err, vfs.ErrHeld) {
			return lock, bare(err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: another process has the lock", context.Cause(ctx))
		}
	}
}

// attach makes the session take part. The lock is held.
func (s *session) attach(adopt bool) error {
	err := s.openControl(controlName, adopt)
	if err == nil && s.alone() {
		err = s.use(s.layout.check)
	}
	if err == nil {
		err = s.begin()
	}
	if errors.Is(err, errRebuild) || errors.Is(err, samplecache.ErrCorrupt) && s.alone() {
		if err = s.rebuild(); err == nil {
			err = s.begin()
		}
	}
	return err
}

// begin makes the session a peer, and completes what others have left.
func (s *session) begin() error {
	err := s.enter()
	if err == nil {
		s.tell(wantsBig) // whoever hears it watches from now on
		err = s.use(func(w words) { w.store(lockerWord, 1+uint64(s.me)) })
	}
	if err == nil {
		err = s.reap()
	}
	if err == nil {
		err = s.goOn()
	}
	return errors.Join(err, s.use(func(w words) { w.store(lockerWord, 0) }))
}

// alone reports whether no other process takes part, whatever the control file says.
func (s *session) alone() bool {
	entries, err := os.ReadDir(s.path(peersName))
	for _, e := range entries {
		line, failed := bell.Dial(filepath.Join(s.path(peersName), e.Name()))
		if failed == nil && e.Name() != filepath.Base(s.bellPath(s.join)) {
			err = errors.Join(line.Close(), samplecache.ErrBlocked)
		} else if failed == nil {
			err = errors.Join(err, line.Close())
		}
	}
	return err == nil
}

// abandon closes what a session that could not join has opened.
func (s *session) abandon() (err error) {
	s.end()
	if s.bell != nil {
		err = errors.Join(s.bell.Close(), ignoreAbsent(os.Remove(s.bellPath(s.join))))
	}
	for _, p := range s.peers {
		err = errors.Join(err, p.line.Close())
	}
	s.ended.Wait()
	if s.control != nil {
		err = errors.Join(err, s.control.Close())
	}
	return err
}
