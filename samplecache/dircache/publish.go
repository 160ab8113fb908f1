package dircache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
)

// publish puts the generation that is being filled in the place of the one published last, if it is
// full and limits allow. The lock is held.
//
// Its one step is the new MANIFEST. All else follows from that, in settle: a process that finds it
// not done, because the one that published was killed, does it.
func (s *session) publish() error {
	if ready, err := s.ready(); !ready || err != nil {
		return err
	}
	began := time.Now()
	m, err := s.manifest()
	if err != nil {
		return err
	}
	if done, err := s.published(m); done || err != nil {
		return err
	}
	passing("publishing")
	if err := s.seal(m, began); err != nil {
		return err
	}
	defer s.kick() // for what becomes of generations that this process holds
	err = s.settle()
	return errors.Join(err, s.use(func(w words) {
		w.store(swapAtWord, uint64(began.UnixMilli()))
		w.store(swapTookWord, uint64(time.Since(began)/time.Microsecond))
	}))
}

// seal writes the MANIFEST that makes the generation that is being filled the latest.
func (s *session) seal(m *manifest, at time.Time) error {
	f, err := s.fold()
	if err != nil || len(f.bad) > 0 || f.committed < s.layout.samples {
		return errors.Join(err, s.refuse(m.Latest+1, f.bad))
	}
	m.Latest, m.Published = m.Latest+1, at.Round(0).UTC()
	if m.Producers, err = s.windows(m.Producers, f.entries); err != nil {
		return err
	}
	return s.writeManifest(m)
}

// published reports whether the generation that is being filled is published already, by one who
// was killed before the others heard of it; then what was left to do is done.
func (s *session) published(m *manifest) (done bool, err error) {
	err = s.use(func(w words) { done = w.load(fillingWord) <= m.Latest })
	if done && err == nil {
		err = s.settle()
	}
	return done, err
}

// ready reports whether a generation is full and may be published.
func (s *session) ready() (ready bool, err error) {
	err = s.use(func(w words) {
		filling := w.load(fillingWord)
		ready = filling == w.load(latestWord)+1 && s.layout.full(w, filling) && len(s.waitsFor(w)) == 0
	})
	return ready, err
}

// lockPause is when what had to wait for the lock for too long is tried again.
const lockPause = 100 * time.Millisecond

// searchPause is how often all processes together try to publish a generation that is full, or to
// find a store for the next one, while that fails.
const searchPause = 2 * time.Second

// stuck reports whether there is something to publish, or no store for the next generation. Then
// who waits tries again after a while: a disk has room again, and a reader that is not of this
// package lets go, without telling.
func (s *session) stuck() (yes bool) {
	ready, err := s.ready()
	_ = s.use(func(w words) { yes = ready || w.load(fillingWord) == 0 }) // the next call says why
	if yes && err == nil && !s.alarmed.Swap(true) {
		time.AfterFunc(searchPause, func() {
			s.alarmed.Store(false)
			s.hear()
			s.kick()
		})
	}
	return yes
}

// due reports whether to ask for the lock: to publish, or to find a store. Where that has failed a
// moment ago it is not.
func (s *session) due() (due bool) {
	ready, err := s.ready()
	if err != nil {
		return false // whoever asks next hears of it
	}
	_ = s.use(func(w words) {
		was := w.load(searchedWord)
		due = (ready || w.load(fillingWord) == 0) && since(was) > searchPause
	})
	return due
}

// goOn publishes what is full, or finds a store for the next generation. The lock is held.
func (s *session) goOn() error {
	err := errors.Join(s.publish(), s.settle())
	s.trouble.Store(&err)
	return errors.Join(err, s.use(func(w words) {
		if err != nil || w.load(fillingWord) == 0 {
			w.store(searchedWord, now())
		} else {
			w.store(searchedWord, 0)
		}
	}))
}

// seek looks for a store to be filled, or publishes what is full, unless that was tried a moment
// ago and there is nothing to do but wait.
func (s *session) seek(ctx context.Context) error {
	if trouble := s.trouble.Load(); s.due() || trouble != nil && *trouble != nil {
		return s.search(ctx)
	}
	return nil
}

// publishDue publishes if there is something to. What goes wrong is told to OnError and tried
// again, by others too: it is not the failure of whoever has put the last sample.
func (s *session) publishDue(ctx context.Context) {
	if ready, err := s.ready(); err == nil && !ready {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience) // the sample is committed
	defer cancel()
	err := s.locked(ctx, s.goOn)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		time.AfterFunc(lockPause, s.kick)
	default:
		s.complain(err)
	}
}

// refuse frees slots whose records are damaged, so that what they hold is never published, and has
// all slots looked at again.
func (s *session) refuse(generation uint64, bad []int) error {
	err := s.use(func(w words) {
		w.store(fullWord, hint(generation, 0))
		for _, slot := range bad {
			w.store(s.layout.slots+slot, slotWord(generation, s.me, slotReserved))
			s.layout.free(w, generation, s.me, slot)
		}
		w.store(fullWord, hint(generation, 0))
	})
	if err != nil || len(bad) == 0 {
		return err
	}
	return failed("publish", s.dir, store{generationRole, generation}.name()+recordsSuffix,
		fmt.Errorf("%w: the records of %d rows are damaged, the first of row %d: their samples are lost", samplecache.ErrCorrupt, len(bad), bad[0]))
}

// settle makes everything as the MANIFEST says. The lock is held. Everything is found done that was
// done before.
func (s *session) settle() error {
	m, err := s.manifest()
	if err != nil {
		return err
	}
	if err := s.use(func(w words) { w.raise(latestWord, m.Latest) }); err != nil {
		return err
	}
	passing("latest stored")
	sh, err := lookAt(s.at, m)
	if err == nil {
		err = sh.point()
	}
	if err != nil {
		return failed("publish", s.dir, "", err)
	}
	passing("pointed")
	needed, err := s.neededByGroups(sh)
	if err != nil {
		return err
	}
	err = ignoreBlocked(sh.provide(needed))
	passing("provided")
	if failed := s.fill(m.Latest+1, sh); failed != nil {
		return errors.Join(err, failed)
	}
	passing("open")
	return failed("publish", s.dir, "", errors.Join(err, sh.clear(needed)))
}

// fill opens the slots of the next generation, if it has a store.
func (s *session) fill(next uint64, sh *shelf) error {
	return s.use(func(w words) {
		switch {
		case !sh.has(store{generationRole, next}):
			w.store(fillingWord, 0)
		case w.load(fillingWord) != next:
			s.layout.begin(w, next)
			passing("slots freed for the next")
			w.store(fillingWord, next)
		}
	})
}

// ignoreBlocked returns nil if there is no store for the next generation yet: Reserve says so.
func ignoreBlocked(err error) error {
	if errors.Is(err, samplecache.ErrBlocked) {
		return nil
	}
	return err
}
