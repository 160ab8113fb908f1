package dircache

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// spins is how often lock tries before it returns [engine.ErrBlocked]. Usually the lock is held for
// microseconds.
const spins = 20

// locked calls fn with the lock held. It returns [engine.ErrBlocked] if another session, or another
// goroutine of this session, has the lock.
func (s *session) locked(fn func() error) (err error) {
	if err = s.lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.unlock()) }()
	crashPoint("locked")
	if err = s.present(); err != nil {
		return err
	}
	return fn()
}

// lock takes the lock. If the lock is not free, lock asks its holder to raise the sequence word
// when it unlocks.
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

// tryLock takes the lock if it is free. The control file need not be mapped.
func (s *session) tryLock() (ok bool, err error) {
	if !s.locking.TryLock() {
		return false, nil
	}
	if ok, err = s.locks.Try(lockNumber, s.lockSpan()); !ok {
		s.locking.Unlock()
		return false, s.fail(controlName, err)
	}
	return true, nil
}

// lockSpan returns how many numbers the session locks as the lock: that says who has it. An entry
// has 1 + its number; a session that is joining, and has no entry yet, has its pid after these, or
// the whole span if the pid is too large.
func (s *session) lockSpan() int64 {
	if s.entered {
		return 1 + int64(s.me)
	}
	return min(1+maxSessions+int64(os.Getpid()), lockSpan)
}

// unlock releases the lock, and wakes the sessions that wait for it.
func (s *session) unlock() error {
	err := s.locks.Unlock(lockNumber, lockSpan)
	s.locking.Unlock()
	crashPoint("unlocked")
	if len(s.words) > 0 && s.words[wantedWord].Swap(0) != 0 {
		err = errors.Join(err, s.raise())
	}
	return err
}

// whoLocks describes the lock and, if known, the process that has it.
func (s *session) whoLocks() string {
	if pid := s.locker(); pid > 0 {
		return fmt.Sprintf("the lock, which pid %d has", pid)
	}
	return "the lock"
}

// locker returns the pid of another session that has the lock, or 0 if none has, or it is not
// known.
func (s *session) locker() (pid int) {
	_, span, held, err := s.locks.Held(lockNumber, 1)
	switch {
	case err != nil || !held || span == lockSpan:
		return 0
	case span > 1+maxSessions:
		return int(span - 1 - maxSessions)
	case len(s.words) == 0: // this session is joining
		return s.pidOnDisk(int(span) - 1)
	}
	return s.words.pid(int(span) - 1)
}

// pidOnDisk returns the pid of a session without the mapped control file, or 0.
func (s *session) pidOnDisk(session int) int {
	var b [8]byte
	if _, err := s.file.ReadAt(b[:], int64(sessionsTable+2*session)*8); err != nil {
		return 0
	}
	return int(binary.LittleEndian.Uint64(b[:]))
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

// A lock of a cache is a number: a byte of the control file, which need not exist. The kernel gives
// a number to one session at a time, until the session unlocks it or its process ends.
const (
	lockNumber     = 0       // the lock: its holder may join, publish, and change the counts of groups; see lockSpan
	sessionNumbers = 1 << 20 // + entry: its holder is the session of that entry
	slotNumbers    = 1 << 30 // + slot: its holder fills the slot
	holderNumbers  = 1 << 40 // + holder: its holder is a member of a group, or has a pass in an epoch
	nameNumbers    = 1 << 61 // + hash * nameSpan: its holder puts samples under the name
)

// lockSpan is how many numbers belong to the lock. The session that has it locks the first ones.
const lockSpan = sessionNumbers - 1

// nameSpan is how many numbers belong to a name. The session of entry i locks the first 1+i of
// them, so that other sessions can find its pid.
const nameSpan = 2 * maxSessions

// nameNumber returns the first number of a name. The probability that two of 4,096 names have the
// same number is 1 in 60 million; such names would exclude each other.
func nameNumber(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return nameNumbers + int64(h.Sum64()>>16)*nameSpan
}

// grab locks count numbers, beginning at at, unless another session, or another call of this
// session, has them.
func (s *session) grab(at, count int64) (ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.numbers[at] > 0 {
		return false, nil
	}
	if ok, err = s.locks.Try(at, count); ok {
		s.numbers[at] = count
	}
	return ok, s.fail(controlName, err)
}

// release unlocks the numbers beginning at at, if the session has them.
func (s *session) release(at int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := s.numbers[at]
	if count == 0 {
		return nil
	}
	delete(s.numbers, at)
	return s.fail(controlName, s.locks.Unlock(at, count))
}

// owns reports whether the session has the numbers beginning at at.
func (s *session) owns(at int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.numbers[at] > 0
}

// lockName locks a name. It returns [engine.ErrProducerBusy] if another session has it.
func (s *session) lockName(name string) error {
	ok, err := s.grab(nameNumber(name), int64(1+s.me))
	if err == nil && !ok {
		err = fmt.Errorf("%w by pid %d", engine.ErrProducerBusy, s.claimant(name))
	}
	return err
}

// claimant returns the pid of the session that has a name, or 0.
func (s *session) claimant(name string) int {
	if s.owns(nameNumber(name)) {
		return os.Getpid()
	}
	_, size, held, err := s.locks.Held(nameNumber(name), nameSpan)
	if err != nil || !held {
		return 0
	}
	return s.words.pid(int(size) - 1)
}
