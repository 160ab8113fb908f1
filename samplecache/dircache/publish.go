package dircache

import (
	"errors"
	"slices"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// searchPause is how often all processes together try to publish a generation that is full, or to
// find a store for the next one, while that fails. A reader that is not of this package lets go
// without telling, and a disk has room again.
const searchPause = 2 * time.Second

// goOn publishes the generation that is being filled, if it is full and limits allow, and finds a
// store for the next one. It first settles the counts of groups. The lock is held.
//
// Its one step is the rename of the MANIFEST. All else follows from that, in settle: what a process
// that was killed has not done, the next one does.
func (s *session) goOn() (err error) {
	defer func() {
		s.mu.Lock()
		s.trouble = err
		s.mu.Unlock()
		err = errors.Join(err, s.searched(err != nil))
	}()
	if err := s.tidy(); err != nil {
		return err
	}
	for {
		latest, filling, ready, err := s.state()
		if err != nil || !ready {
			return err
		}
		m, err := s.manifest()
		if err != nil {
			return err
		}
		if latest == m.Latest && filling == latest+1 {
			ready, err = s.publish(m)
		} else {
			err = s.settle(m)
			ready = filling != 0 // else there may be no store, or it is empty
		}
		if err != nil || !ready {
			return err
		}
	}
}

// state returns the generation published last, the one that is being filled, and whether there is
// something to do for goOn.
func (s *session) state() (latest, filling uint64, ready bool, err error) {
	err = s.use(func(w words) (err error) {
		if latest, filling, err = w.generations(); err == nil {
			ready, err = s.ready(w, latest, filling)
		}
		return err
	})
	return latest, filling, ready, err
}

// searched stores when it failed last to publish, or to find a store.
func (s *session) searched(failed bool) error {
	return s.use(func(w words) error {
		if _, filling, err := w.generations(); failed || err == nil && filling == 0 {
			w[searchedWord].Store(now())
		} else {
			w[searchedWord].Store(0)
		}
		return nil
	})
}

// due reports whether to try to publish, or to find a store: not if that has failed a moment ago.
func (s *session) due() (due bool) {
	_ = s.use(func(w words) error { // who tries hears of it
		was := w[searchedWord].Load()
		due = was == 0 || passed(was, searchPause)
		return nil
	})
	return due
}

// ready reports whether there is something to do for goOn: a generation is full and may be
// published, or was published and that was not told, or the next one has no store.
func (s *session) ready(w words, latest, filling uint64) (bool, error) {
	if filling != latest+1 {
		return true, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock() // also after a fault
	full := s.full(w, filling)
	if !full || s.fixed.Config.Limits.MinPasses == 0 {
		return full, nil
	}
	g, err := s.groups()
	return err == nil && len(g.Waits(s.progress(w, latest))) == 0, err
}

// publish publishes the generation after m.Latest, unless its records say that it is not full.
func (s *session) publish(m *manifest) (bool, error) {
	began := time.Now()
	passing("publishing")
	list, full, err := s.collect(m)
	if err != nil || !full {
		return false, err
	}
	next := *m
	next.Latest, next.Published, next.Producers = m.Latest+1, began.Round(0).UTC(), list
	if err := next.write(s.at, s.place.Mode()); err != nil {
		return false, failed("publish", s.dir, manifestName, err)
	}
	err = s.settle(&next)
	return true, errors.Join(err, s.use(func(w words) error {
		w[swapAtWord].Store(uint64(began.UnixMilli()))
		w[swapTookWord].Store(uint64(time.Since(began) / time.Microsecond))
		return nil
	}))
}

// collect returns the producers, with the numbers of the generation that is being filled, and
// whether the records say that it is full. If not, it has the slots looked at again.
func (s *session) collect(m *manifest) (list []producerSpec, full bool, err error) {
	generation := m.Latest + 1
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.writer(generation)
	if err != nil {
		return nil, false, err
	}
	full = true
	err = s.use(func(w words) error {
		for i := range s.samples() {
			if v := w.slot(i).Load(); s.rows[i] != nil || !st.committed(i, generation) {
				if r, err := st.record(i); err == nil {
					s.tellDamage(r, generation, i)
				}
				full = false
				w.slot(i).CompareAndSwap(v, slotWord(generation, s.me, slotReserved)) // a sweep frees it
			}
		}
		s.cursor = cursor{}
		return nil
	})
	if err != nil || !full {
		return nil, false, err
	}
	list, err = s.with(m.Producers, st, generation)
	forgotten := func(p producerSpec) bool { return p.Window == (engine.Window{}) }
	return slices.DeleteFunc(list, forgotten), true, err
}

// settle makes everything as the MANIFEST says. The lock is held. What was done before is found
// done.
func (s *session) settle(m *manifest) error {
	if err := s.use(func(w words) error { w.seal(latestWord, m.Latest); return nil }); err != nil {
		return err
	}
	passing("latest stored")
	if err := s.raise(); err != nil { // who waits for it need not wait for the rest
		return err
	}
	sh, err := s.lookAt(m)
	if err == nil {
		err = sh.point()
	}
	if err != nil {
		return failed("publish", s.dir, "", err)
	}
	passing("pointed")
	needed, err := s.needed(sh)
	if err != nil {
		return err
	}
	err = ignoreBlocked(sh.provide(needed))
	passing("provided")
	filling := uint64(0)
	if sh.has(sh.next()) {
		filling = m.Latest + 1
	}
	if failed := s.use(func(w words) error { w.seal(fillingWord, filling); return nil }); failed != nil {
		return errors.Join(err, failed)
	}
	passing("open")
	return errors.Join(failed("publish", s.dir, "", errors.Join(err, sh.clear(needed))), s.raise())
}

// needed returns what says whether a group needs a generation that is retired: an epoch has it that
// not all ranks have closed, and [engine.Config.MaxHold] has not passed.
func (s *session) needed(sh *shelf) (func(id uint64) bool, error) {
	g, err := s.groups()
	if err != nil {
		return nil, err
	}
	err = s.use(func(w words) error {
		for _, st := range sh.stores {
			if sh.retired(st) {
				w.retired(st.id)
			}
		}
		return nil
	})
	return func(id uint64) bool { return g.Needs(id) && !s.overdue(id) }, err
}

// overdue reports whether a generation was retired longer ago than [engine.Config.MaxHold].
func (s *session) overdue(id uint64) bool {
	left, limited := s.holdLeft(id)
	return limited && left <= 0
}
