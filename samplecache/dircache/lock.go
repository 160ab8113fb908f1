package dircache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/samplecache"
)

// locked calls fn with the lock, which one process has at a time, and tells everybody afterwards. It
// waits for the lock until ctx ends.
func (s *session) locked(ctx context.Context, fn func() error) error {
	select {
	case s.locking <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	lock, err := s.lock(ctx)
	if err == nil {
		err = fn()
		err = errors.Join(err, s.use(func(w words) { w.store(lockerWord, 0) }), lock.Unlock())
	}
	<-s.locking
	s.tell()
	return err
}

// lock waits for the lock. Who has it tells when it is free; its death may be heard before the
// system has given the lock back, so it is also asked for now and then.
func (s *session) lock(ctx context.Context) (*vfs.Lock, error) {
	for wait := time.Millisecond; ; wait = min(2*wait, time.Second) {
		changed := s.Changed()
		l, err := vfs.TryLock(s.path(lockName), vfs.Exclusive)
		if err == nil {
			return l, s.use(func(w words) { w.store(lockerWord, 1+uint64(s.me)) })
		}
		if !errors.Is(err, vfs.ErrHeld) {
			return nil, failed("lock", s.dir, lockName, err)
		}
		retry := time.NewTimer(wait)
		select {
		case <-changed:
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
			return nil, fmt.Errorf("%w: %w: %s", context.Cause(ctx), samplecache.ErrBlocked, s.whoLocks())
		}
		retry.Stop()
	}
}

// whoLocks says who has the lock.
func (s *session) whoLocks() (text string) {
	err := s.use(func(w words) {
		text = "the lock"
		if peer := w.load(lockerWord); peer > 0 && peer <= maxPeers {
			text = fmt.Sprintf("the lock, which pid %d has", w.load(s.layout.peer(int(peer)-1)+peerPID))
		}
	})
	if err != nil {
		return err.Error()
	}
	return text
}

// Changed implements samplecache.Session.
func (s *session) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.use(func(w words) { w.store(s.layout.peer(s.me)+peerWaiting, 1) }) // what follows says what is wrong
	return s.changed
}

// hear tells those of the process that something has changed.
func (s *session) hear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// tell tells everybody that something has changed.
func (s *session) tell() {
	s.hear()
	var waiting []int
	_ = s.use(func(w words) { // who closes next says what is wrong
		for i := range int(w.load(peersWord)) {
			if at := s.layout.peer(i) + peerWaiting; i != s.me && w.load(at) == 1 && w.cas(at, 1, 0) {
				waiting = append(waiting, i)
			}
		}
	})
	for _, i := range waiting {
		s.ring(i)
	}
}

// kick has the session look around.
func (s *session) kick() {
	select {
	case s.kicked <- struct{}{}:
	default:
	}
}
