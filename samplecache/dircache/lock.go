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
func (s *session) locked(fn func() error) (err error) {
	if err = s.lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.unlock()) }()
	passing("locked")
	if err = s.present(); err != nil {
		return err
	}
	return fn()
}

// lock takes the lock. If it is not free, whoever has it is told to say when it is.
func (s *session) lock() error {
	for try := range spins {
		if try == spins-1 {
			s.words[wantedWord].Store(1)
		}
		if ok, err := s.tryLock(); ok || err != nil {
			return err
		}
		runtime.Gosched()
	}
	return &engine.BlockedError{Why: func() string { return "waiting for " + s.whoLocks() }}
}

// tryLock takes the lock if it is free, and leaves the pid. The control file may be damaged.
func (s *session) tryLock() (ok bool, err error) {
	if !s.locking.TryLock() {
		return false, nil
	}
	if ok, err = s.locks.Try(lockNumber, 1); !ok {
		s.locking.Unlock()
		return false, s.fail(controlName, err)
	}
	pid := binary.LittleEndian.AppendUint64(nil, uint64(os.Getpid()))
	_, _ = s.file.WriteAt(pid, lockerWord*8) // only told
	return true, nil
}

// unlock gives the lock back, and tells those who want it.
func (s *session) unlock() error {
	err := s.locks.Unlock(lockNumber, 1)
	s.locking.Unlock()
	passing("unlocked")
	if len(s.words) > 0 && s.words[wantedWord].Swap(0) != 0 {
		err = errors.Join(err, s.raise())
	}
	return err
}

// whoLocks says who has the lock.
func (s *session) whoLocks() string {
	if pid := s.locker(); pid > 0 {
		return fmt.Sprintf("the lock, which pid %d has", pid)
	}
	return "the lock"
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

// lockToJoin waits for the lock.
func (s *session) lockToJoin(ctx context.Context) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		if ok, err := s.tryLock(); ok || err != nil {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w: waiting for %s", context.Cause(ctx), engine.ErrBlocked, s.whoLocks())
		}
	}
}
