package dircache

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// sweepPause is the time between two sweeps of a session that waits. A sweep finds processes that
// have died without raising the sequence word. It costs four or five context switches.
const sweepPause = 160 * time.Millisecond

// maxSweeps is the number of sweeps after which callers that wait try again, even if no sweep found
// anything: a process may be stopped between a change and its raise.
const maxSweeps = 4

// A watch closes a channel when the sequence word has changed. It waits only after Changed was
// called.
type watch struct {
	wake  chan struct{} // buffered, 1
	life  context.Context
	end   context.CancelFunc
	ended sync.WaitGroup

	reporting sync.Mutex // locked while OnError is called

	mu      sync.Mutex
	changed chan struct{}
	asked   bool
	seen    uint32 // the sequence word when Changed was called
}

func (s *session) Changed() <-chan struct{} {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if !s.watch.asked {
		s.watch.asked, s.watch.seen = true, s.sequence()
		select {
		case s.watch.wake <- struct{}{}:
		default:
		}
	}
	return s.watch.changed
}

// sequence returns the low bits of the sequence word.
func (s *session) sequence() (v uint32) {
	word, err := s.control.Word32(sequenceWord * 8)
	if err != nil {
		return 0 // the session is closed
	}
	defer s.control.Release()
	_ = mapping.Guard(func() { v = word.Load() }) // other calls return the error
	return v
}

// raise increments the sequence word and wakes all sessions that wait for a change.
func (s *session) raise() error {
	s.words[sequenceWord].Add(1)
	crashPoint("sequence raised")
	return s.fail(controlName, s.control.WakeWord(sequenceWord*8))
}

// start starts the goroutine that watches.
func (s *session) start() {
	w := &s.watch
	w.wake, w.changed = make(chan struct{}, 1), make(chan struct{})
	w.life, w.end = context.WithCancel(context.Background())
	w.ended.Go(func() {
		defer w.notify()
		for {
			select {
			case <-w.wake:
				s.awaitChange()
			case <-w.life.Done():
				return
			}
		}
	})
}

// awaitChange waits for a change, calls maintain meanwhile and afterwards, and then closes the
// channel.
func (s *session) awaitChange() {
	w := &s.watch
	w.mu.Lock()
	seen := w.seen
	w.mu.Unlock()
	again, err := false, error(nil)
	for n := 0; n < maxSweeps && err == nil && (n == 0 || s.sequence() == seen); n++ {
		if err = s.control.WaitWord(sequenceWord*8, seen, sweepPause); err == nil {
			err = s.call(func() (err error) { again, err = s.maintain(); return err })
		}
	}
	w.notify()
	s.report(err)
	if err != nil { // do not spin on a broken cache
		select {
		case <-time.After(sweepPause):
		case <-w.life.Done():
		}
	}
	if again {
		s.Changed()
	}
}

// notify closes the channel that Changed has returned.
func (w *watch) notify() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed, w.asked = make(chan struct{}), false
}

// report passes an error that no call returns to OnError. It drops the error if OnError is still
// running.
func (s *session) report(err error) {
	if err == nil || s.opt.OnError == nil || errors.Is(err, engine.ErrClosed) || errors.Is(err, engine.ErrBlocked) || !s.watch.reporting.TryLock() {
		return
	}
	s.watch.ended.Go(func() {
		defer s.watch.reporting.Unlock()
		s.opt.OnError(err)
	})
}

// maintain does the work of dead sessions while a caller waits: it frees their holders, publishes a
// full generation, and finds a store for the next one. again is true if the lock was taken, so that
// maintain should be called again soon.
func (s *session) maintain() (again bool, err error) {
	found := false
	if passed(s.words[sweptWord].Load(), sweepPause/4) {
		s.words[sweptWord].Store(now())
		if found, err = s.sweep(); err != nil {
			return false, err
		}
	}
	if found {
		s.searchAgain()
	}
	_, _, ready, err := s.state()
	if err == nil && (ready && s.due() || found) {
		err = s.locked(s.advance)
		again = errors.Is(err, engine.ErrBlocked)
	}
	if found {
		err = errors.Join(err, s.raise())
	}
	return again, ignoreBlocked(err)
}

// sweep looks for dead sessions. It reports whether it found any, or dead holders in the counts of
// groups, which advance removes.
func (s *session) sweep() (found bool, err error) {
	latest, err := s.words.sealed(latestWord)
	if err != nil {
		return false, err
	}
	g, err := s.groups()
	if err != nil {
		return false, err
	}
	found = s.removeDead()
	return g.Tidy(s.progress(latest), s.alive) || found, nil
}

// removeDead clears the entries of dead sessions. It reports whether there were any: they may have
// changed something and died before they raised the sequence word. It locks an entry before it
// clears it, since a new session may just have taken the entry.
func (s *session) removeDead() (found bool) {
	for i := range maxSessions {
		number := sessionNumbers + int64(i)
		if i == s.me || s.words.session(i).Load() == 0 {
			continue
		}
		if free, err := s.locks.Try(number, 1); free && err == nil {
			s.words.session(i).Store(0)
			found = s.locks.Unlock(number, 1) == nil || found
		}
	}
	return found
}

// takesPart reports whether entry i belongs to a living session.
func (s *session) takesPart(i int) bool {
	_, _, held, err := s.locks.Held(sessionNumbers+int64(i), 1)
	return held || err != nil || s.entered && i == s.me
}
