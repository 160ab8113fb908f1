package dircache

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// spins is how often the lock is tried before that is said to be blocked: mostly it is held for some
// microseconds.
const spins = 20

// locked calls fn with the lock. It is [engine.ErrBlocked] if another session has the lock, or
// another goroutine of this one.
func (s *session) locked(fn func() error) error {
	err := s.lock()
	if err != nil {
		return err
	}
	if err = s.present(); err == nil {
		err = fn()
	}
	return errors.Join(err, s.unlock())
}

// lock takes the lock. If it is not free, whoever has it is told to say when it is.
func (s *session) lock() error {
	for range spins {
		if ok, err := s.tryLock(); ok || err != nil {
			return err
		}
		runtime.Gosched()
	}
	if err := s.use(func(w words) error { w[wantedWord].Store(1); return nil }); err != nil {
		return err
	}
	if ok, err := s.tryLock(); ok || err != nil {
		return err
	}
	return &engine.BlockedError{Why: func() string { return "waiting for " + s.whoLocks() }}
}

func (s *session) tryLock() (bool, error) {
	if !s.locking.TryLock() {
		return false, nil
	}
	ok, err := s.locks.Try(lockNumber, 1)
	if err == nil && ok {
		passing("locked")
		_ = s.use(func(w words) error { w[lockerWord].Store(uint64(os.Getpid())); return nil }) // only told
		return true, nil
	}
	s.locking.Unlock()
	return false, s.fail(controlName, err)
}

// unlock gives the lock back, and tells those who want it.
func (s *session) unlock() error {
	err := s.locks.Unlock(lockNumber, 1)
	s.locking.Unlock()
	passing("unlocked")
	wanted := false
	err = errors.Join(err, s.use(func(w words) error { wanted = w[wantedWord].Swap(0) != 0; return nil }))
	if wanted {
		err = errors.Join(err, s.raise())
	}
	return err
}

// whoLocks says who has the lock.
func (s *session) whoLocks() (text string) {
	text = "the lock"
	if pid := s.locker(); pid > 0 {
		text = fmt.Sprintf("the lock, which pid %d has", pid)
	}
	return text
}

// locker returns the pid of another session that has the lock, 0 if none has.
func (s *session) locker() (pid int) {
	if _, _, held, err := s.locks.Held(lockNumber, 1); err != nil || !held {
		return 0
	}
	var b [8]byte
	if _, err := s.file.ReadAt(b[:], lockerWord*8); err != nil {
		return 0
	}
	return int(binary.LittleEndian.Uint32(b[:]))
}

// lockToJoin waits for the lock of a cache whose control file may be damaged.
func (s *session) lockToJoin(ctx context.Context) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		ok, err := s.locks.Try(lockNumber, 1)
		if ok {
			b := binary.LittleEndian.AppendUint64(nil, uint64(os.Getpid()))
			_, err = s.file.WriteAt(b, lockerWord*8)
		}
		if ok || err != nil {
			return s.fail(controlName, bare(err))
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w: waiting for %s", context.Cause(ctx), engine.ErrBlocked, s.whoLocks())
		}
	}
}
