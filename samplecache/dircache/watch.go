package dircache

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// lookPause is the longest time between two looks of a session that waits. A look finds dead
// processes, which tell nobody. It costs four or five context switches.
const lookPause = 160 * time.Millisecond

// lookAnew is the number of looks after which callers that wait try again, even if nothing was
// found: a process may be stopped between a change and its raise.
const lookAnew = 4

// A watch closes a channel when the sequence word has changed, while somebody waits for that.
type watch struct {
	wake  chan struct{} // has room for one
	life  context.Context
	end   context.CancelFunc
	ended sync.WaitGroup

	telling sync.Mutex // held while OnError is called

	mu      sync.Mutex
	changed chan struct{}
	asked   bool
	seen    uint32 // the sequence word when somebody asked
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
		return 0 // it is closed
	}
	defer s.control.Release()
	_ = mapping.Guard(func() { v = word.Load() }) // others say what is wrong
	return v
}

// raise raises the sequence word and wakes all sessions that wait for a change.
func (s *session) raise() error {
	s.words[sequenceWord].Add(1)
	passing("sequence raised")
	return s.fail(controlName, s.control.WakeWord(sequenceWord*8))
}

// start begins to watch.
func (s *session) start() {
	w := &s.watch
	w.wake, w.changed = make(chan struct{}, 1), make(chan struct{})
	w.life, w.end = context.WithCancel(context.Background())
	w.ended.Go(func() {
		defer w.tell()
		for {
			select {
			case <-w.wake:
				s.look()
			case <-w.life.Done():
				return
			}
		}
	})
}

// look waits for a change, tends the cache meanwhile and afterwards, and then closes the channel.
func (s *session) look() {
	w := &s.watch
	w.mu.Lock()
	seen := w.seen
	w.mu.Unlock()
	again, err := false, error(nil)
	for n := 0; n < lookAnew && err == nil && (n == 0 || s.sequence() == seen); n++ {
		if err = s.control.WaitWord(sequenceWord*8, seen, lookPause); err == nil {
			err = s.call(func() (err error) { again, err = s.tend(); return err })
		}
	}
	w.tell()
	s.complain(err)
	if err != nil { // a broken cache is looked at now and then
		select {
		case <-time.After(lookPause):
		case <-w.life.Done():
		}
	}
	if again {
		s.Changed()
	}
}

// tell closes the channel that Changed has returned.
func (w *watch) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed, w.asked = make(chan struct{}), false
}

// complain passes an error for which nobody waits to OnError. It drops the error if OnError is
// still running.
func (s *session) complain(err error) {
	if err == nil || s.opt.OnError == nil || errors.Is(err, engine.ErrClosed) || errors.Is(err, engine.ErrBlocked) || !s.watch.telling.TryLock() {
		return
	}
	s.watch.ended.Go(func() {
		defer s.watch.telling.Unlock()
		s.opt.OnError(err)
	})
}

// tend does the work of others while a caller waits: it frees the slots and parts of dead sessions,
// publishes a full generation, and finds a store for the next one. It reports whether to call it
// again soon, since the lock was taken.
func (s *session) tend() (again bool, err error) {
	found := false
	if passed(s.words[sweptWord].Load(), lookPause/4) {
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
		err = s.locked(s.goOn)
		again = errors.Is(err, engine.ErrBlocked)
	}
	if found {
		err = errors.Join(err, s.raise())
	}
	return again, ignoreBlocked(err)
}

// sweep looks for dead sessions and frees their slots. It reports whether it found any, also among
// the holders in the counts of groups, which goOn then settles.
func (s *session) sweep() (found bool, err error) {
	latest, filling, err := s.words.generations()
	if err != nil {
		return false, err
	}
	g, err := s.groups()
	if err != nil {
		return false, err
	}
	found = s.removeDead()
	if filling == latest+1 {
		found = s.sweepSlots(filling, sweepTime) || found
	}
	return g.Tidy(s.progress(latest), s.alive) || found, nil
}

// removeDead clears the entries of dead sessions. It reports whether there were any: they may have
// made changes and died before they raised the sequence word. An entry is cleared under its lock,
// so that it is not that of a session which has just begun.
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
	return held || err != nil || i == s.me
}
