package dircache

import (
	"fmt"
	"hash/fnv"
	"os"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// The locks of a cache are numbers, bytes of the control file that need not exist. The kernel gives
// a number to one session at a time, until that gives it back or its process ends.
const (
	lockNumber     = 0       // who has it may publish, and change the counts of groups
	sessionNumbers = 1 << 20 // + entry: it takes part
	slotNumbers    = 1 << 30 // + slot: it fills the slot
	holderNumbers  = 1 << 40 // + holder: it is a member of a group, or has a part in an epoch
	nameNumbers    = 1 << 61 // + hash * nameSpan: it puts samples under the name
)

// nameSpan is how many numbers belong to a name. A claim locks as many of the first as its session's
// entry says: so others can tell who it is.
const nameSpan = 2 * maxSessions

// nameNumber returns the first number of a name. Two of 4,096 names have the same with a
// probability of 1 in 60 million; then they exclude each other.
func nameNumber(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // it never fails
	return nameNumbers + int64(h.Sum64()>>16)*nameSpan
}

// grab locks numbers that neither another session nor another call of this one has.
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

// release gives numbers back, if the session has them.
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

// owns reports whether the session has numbers from at on.
func (s *session) owns(at int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.numbers[at] > 0
}

// lockName locks a name. If another has it, that is [engine.ErrProducerBusy].
func (s *session) lockName(name string) error {
	ok, err := s.grab(nameNumber(name), int64(1+s.me))
	if err == nil && !ok {
		err = fmt.Errorf("%w: by pid %d", engine.ErrProducerBusy, s.claimant(name))
	}
	return err
}

// claimant returns the pid of the session that has a name, 0 if none has.
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
