package dircache

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// lookPause is how long those who wait go without looking whether something has changed that nobody
// has told: somebody may have been killed. A look costs the scheduler four or five context switches.
const lookPause = 160 * time.Millisecond

// lookAnew is after how many looks in vain those who wait try again: somebody may be stopped between
// a change and telling of it.
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

// Changed implements engine.Session.
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
	_ = s.use(func(w words) error { v = uint32(w[sequenceWord].Load()); return nil }) // others say what is wrong
	return v
}

// raise says that something has changed.
func (s *session) raise() error {
	err := s.use(func(w words) error { w[sequenceWord].Add(1); return nil })
	passing("sequence raised")
	return errors.Join(err, s.fail(controlName, s.control.WakeWord(sequenceWord*8)))
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

// look waits for a change, does what is to be done meanwhile and then, and tells those who have
// asked.
func (s *session) look() {
	w := &s.watch
	w.mu.Lock()
	seen := w.seen
	w.mu.Unlock()
	again, err := false, error(nil)
	for n := 0; (n == 0 || n < lookAnew && s.sequence() == seen) && err == nil && w.life.Err() == nil; n++ {
		if err = s.control.WaitWord(sequenceWord*8, seen, lookPause); err == nil && w.life.Err() == nil {
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

// tell tells those who have asked.
func (w *watch) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed, w.asked = make(chan struct{}), false
}

// complain has the user told of an error for which nobody waits. While that takes, others are left
// out.
func (s *session) complain(err error) {
	if err == nil || s.opt.OnError == nil || errors.Is(err, engine.ErrClosed) || errors.Is(err, engine.ErrBlocked) || !s.watch.telling.TryLock() {
		return
	}
	s.watch.ended.Go(func() {
		defer s.watch.telling.Unlock()
		s.opt.OnError(err)
	})
}

// tend does what is to be done while somebody waits: it frees what the dead have held, publishes
// what is full, and finds room for the next generation. It reports whether it has to try again.
func (s *session) tend() (again bool, err error) {
	var swept, found bool
	latest, filling, ready, err := s.state()
	if err != nil {
		return false, err
	}
	err = s.use(func(w words) error {
		if swept = passed(w[sweptWord].Load(), lookPause/2); swept {
			w[sweptWord].Store(now())
			found = s.bury(w)
			if filling == latest+1 {
				found = s.sweep(w, filling) || found
			}
		}
		return nil
	})
	if err == nil && swept {
		untidy, failed := s.untidy()
		found, err = found || untidy, failed
	}
	if err == nil && (ready && s.due() || found) {
		err = s.locked(s.goOn)
		again = errors.Is(err, engine.ErrBlocked)
	}
	if found {
		err = errors.Join(err, s.raise())
	}
	return again, ignoreBlocked(err)
}

// bury takes the dead from those who take part. It reports whether there were any: they may have
// changed something and not told of it.
func (s *session) bury(w words) (found bool) {
	for i := range maxSessions {
		pid := w.session(i).Load()
		if pid == 0 || i == s.me {
			continue
		}
		_, _, held, err := s.locks.Held(sessionNumbers+int64(i), 1)
		if !held && err == nil && w.session(i).CompareAndSwap(pid, 0) {
			found = true
		}
	}
	return found
}
