package dircache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/samplecache/dircache/internal/host"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// An Engine keeps a cache in a directory that [Create] made, for the processes of one machine. Only
// Dir must be set; the zero values of the other fields are the defaults.
//
// Safe for concurrent use.
type Engine struct {
	// Dir is the directory.
	Dir string
	// Adopt takes over a cache that another machine has used, for instance after its disk was
	// moved. No process may use the cache there any more. Without Adopt, Join returns
	// [engine.ErrOtherHost].
	Adopt bool
}

var _ engine.Engine = Engine{}

// Join implements engine.Engine. It completes the operations of processes that have died. After a
// restart of the machine, it rebuilds the control file from the MANIFEST and the records, and
// compares the checksums of the samples that were not published yet. It does the same if the
// control file is damaged and there is no other session.
//
// Join returns an [Error] that names a file. The Error wraps
//
//   - fs.ErrNotExist if Dir is not a cache,
//   - fs.ErrPermission if the process may not write to Dir,
//   - [engine.ErrCorrupt] if a file is damaged,
//   - [engine.ErrOtherHost] if Dir was used on another machine or is on a network file system,
//   - [errors.ErrUnsupported] for another version of the format, and on systems without locks of
//     ranges of a file, such as Windows.
func (e Engine) Join(ctx context.Context, opt engine.Options) (engine.Session, error) {
	s, err := e.join(ctx, opt)
	if err != nil {
		return nil, failed("open", e.Dir, "", err)
	}
	return s, nil
}

func (e Engine) join(ctx context.Context, opt engine.Options) (*session, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s, err := e.session(mapping.ReadWrite, opt)
	if err != nil {
		return nil, err
	}
	if err := s.guard(func() error { return s.join(ctx, e.Adopt) }); err != nil {
		return nil, errors.Join(err, s.closeFiles())
	}
	s.start()
	return s, nil
}

// session returns a session that has not opened the control file yet.
func (e Engine) session(mode mapping.Mode, opt engine.Options) (*session, error) {
	at, err := e.place()
	if err != nil {
		return nil, err
	}
	m, err := readManifest(at)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: it is not a cache: Create makes one", fs.ErrNotExist)
	}
	if err != nil {
		return nil, failed("open", e.Dir, manifestName, err)
	}
	return newSession(e.Dir, at, m, mode, opt)
}

// place returns the absolute path of the directory, if it can be used here.
func (e Engine) place() (string, error) {
	if err := usable(e.Dir); err != nil {
		return "", err
	}
	at, err := filepath.Abs(e.Dir)
	if err == nil {
		_, err = os.Stat(at) // its errors are clearer than errors of EvalSymlinks
	}
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err == nil {
		err = local(at)
	}
	return at, err
}

// usable returns an error unless this system can keep caches, and dir is not empty.
func usable(dir string) error {
	if !vfs.NumbersSupported || !cast.LittleEndian() {
		return fmt.Errorf("%w on this system", errors.ErrUnsupported)
	}
	if dir == "" {
		return fmt.Errorf("%w: got an empty Dir", fs.ErrInvalid)
	}
	return nil
}

// local returns [engine.ErrOtherHost] if the directory is on a network file system.
func local(at string) error {
	name, network, err := host.Network(at)
	if err == nil && network {
		err = fmt.Errorf("%w: %s is a network file system, which other machines may use: want a local disk or tmpfs", engine.ErrOtherHost, name)
	}
	return err
}

// join registers the session, with the lock held, and completes the operations of dead processes.
// If the latter fails for a reason such as a full disk, the session joins nevertheless: it can
// read.
func (s *session) join(ctx context.Context, adopt bool) (err error) {
	if err := s.openControl(); err != nil {
		return failed("open", s.dir, controlName, err)
	}
	if err := vfs.CanWrite(s.at); err != nil { // a session must be able to publish
		return failed("open", s.dir, "", err)
	}
	if err := s.lockToJoin(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.unlock()) }()
	if err := s.present(); err != nil { // Remove had the lock before
		return err
	}
	if err := s.mapControl(adopt); err != nil {
		return failed("open", s.dir, controlName, err)
	}
	err = s.advance()
	if errors.Is(err, engine.ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.report(err)
	if err := s.enter(); err != nil {
		return err
	}
	return s.raise()
}

// enter takes an entry in the table of sessions. It prefers one that was never used.
func (s *session) enter() error {
	for k := range 2 * maxSessions {
		i, used := k%maxSessions, k >= maxSessions
		if s.words.session(i).Load() != 0 != used {
			continue
		}
		ok, err := s.locks.Try(sessionNumbers+int64(i), 1)
		if err != nil {
			return err
		}
		if ok {
			s.me, s.entered, s.cursor = i, true, cursor{}
			s.words.joined(i).Store(now())
			s.words.session(i).Store(uint64(os.Getpid()))
			return nil
		}
	}
	return fmt.Errorf("%w: got one more session, want at most %d", engine.ErrConfig, maxSessions)
}
