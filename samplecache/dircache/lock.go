package dircache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/samplecache"
)

// locked calls fn with the lock, which one process has at a time, and tells everybody afterwards.
// It waits for the lock until ctx ends.
//
// It is [samplecache.ErrClosed] if the session is being closed meanwhile.
func (s *session) locked(ctx context.Context, fn func() error) error {
	err := s.lockedUntil(ctx, s.life.Done(), fn)
	s.tell(wantsBig)
	if ready, failed := s.ready(); err == nil && failed == nil && ready {
		s.kick() // one who was buried had put the last sample
	}
	return err
}

// search calls goOn with the lock, and tells nobody if there is still no store to be filled: others
// would search at once, and tell again.
func (s *session) search(ctx context.Context) error {
	err := s.lockedUntil(ctx, s.life.Done(), s.goOn)
	found := false
	if s.use(func(w words) { found = w.load(fillingWord) != 0 }) != nil || found {
		s.tell(wantsBig)
	}
	return err
}

// lockedUntil is locked without telling anybody, that ends with an error when closed is.
func (s *session) lockedUntil(ctx context.Context, closed <-chan struct{}, fn func() error) error {
	select {
	case s.locking <- struct{}{}:
	case <-ctx.Done():
		return s.lockTimeout(ctx)
	case <-closed:
		return s.closed()
	}
	lock, err := s.lock(ctx, closed)
	if err == nil {
		err = fn()
		err = errors.Join(err, s.use(func(w words) { w.store(lockerWord, 0) }), lock.Unlock())
	}
	<-s.locking
	return err
}

// lock waits for the lock. Who has it tells when it is free; its death may be heard before the
// system has given the lock back, so it is also asked for now and then.
func (s *session) lock(ctx context.Context, closed <-chan struct{}) (*vfs.Lock, error) {
	l, err := s.tryLock()
	for wait := time.Millisecond; errors.Is(err, vfs.ErrHeld); wait = min(2*wait, 100*time.Millisecond) {
		changed := s.Changed()
		if l, err = s.tryLock(); !errors.Is(err, vfs.ErrHeld) {
			break
		}
		retry := time.NewTimer(wait)
		select {
		case <-changed:
			wait = time.Millisecond
		case <-retry.C:
		case <-ctx.Done():
			err = s.lockTimeout(ctx)
		case <-closed:
			err = s.closed()
		}
		retry.Stop()
	}
	return l, err
}

// tryLock returns the lock if it is free, and says so in the control file. The lock must be that of
// the cache that was joined.
func (s *session) tryLock() (*vfs.Lock, error) {
	l, err := vfs.TryLock(s.path(lockName), vfs.Exclusive)
	if err != nil {
		return nil, failed("lock", s.dir, lockName, err)
	}
	err = s.present()
	if err == nil {
		err = s.use(func(w words) { w.store(lockerWord, 1+uint64(s.me)) })
	}
	if err != nil {
		return nil, errors.Join(err, l.Unlock())
	}
	return l, nil
}

// lockTimeout returns the error of a context that ended before the lock was free.
func (s *session) lockTimeout(ctx context.Context) error {
	return fmt.Errorf("%w: %w: waiting for %s", context.Cause(ctx), samplecache.ErrBlocked, s.whoLocks())
}

// whoLocks says who has the lock.
func (s *session) whoLocks() (text string) {
	err := s.use(func(w words) {
		text = "the lock"
		if pid := s.locker(w); pid > 0 {
			text = fmt.Sprintf("the lock, which pid %d has", pid)
		}
	})
	if err != nil {
		return err.Error()
	}
	return text
}

// locker returns the pid of who has the lock, 0 if nobody has.
func (s *session) locker(w words) int { return s.pid(w, w.below(lockerWord, maxPeers)-1) }

// Changed implements samplecache.Session.
func (s *session) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	// What follows says what is wrong.
	_ = s.use(func(w words) { w.store(s.layout.peer(s.me)+peerWaiting, wantsAll) })
	return s.changed
}

// hear tells those of the process that something has changed.
func (s *session) hear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// What a peer wants to be told of.
const (
	wantsNothing = iota // it was told, and has not looked yet
	wantsBig            // what is done with the lock: a generation published, a member come or gone
	wantsAll            // also a slot that is free again, a row that was taken
)

// tell tells those of the process that something has changed, and the peers that want to hear of
// it: all but those that have not looked since they were told, or of small changes those that want
// all.
func (s *session) tell(least uint64) {
	s.hear()
	var waiting []int
	_ = s.use(func(w words) { // who closes next says what is wrong
		for i := range w.below(peersWord, maxPeers) {
			at := s.layout.peer(i) + peerWaiting
			if wants := w.load(at); i != s.me && wants >= least && w.cas(at, wants, wantsNothing) {
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
