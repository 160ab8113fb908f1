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
	m, err := readManifest(s.at)
	if err != nil {
		return failed("publish", s.dir, manifestName, err)
	}
	passing("publishing")
	bad, err := s.fold()
	if err != nil || len(bad) > 0 {
		return errors.Join(err, s.refuse(m.Latest+1, bad))
	}
	m.Latest, m.Published = m.Latest+1, began.Round(0).UTC()
	if m.Producers, err = s.windows(); err != nil {
		return err
	}
	if err := m.write(s.at); err != nil {
		return failed("publish", s.dir, manifestName, err)
	}
	err = s.settle()
	return errors.Join(err, s.use(func(w words) {
		w.store(swapAtWord, uint64(began.UnixMilli()))
		w.store(swapTookWord, uint64(time.Since(began)/time.Microsecond))
	}))
}

// ready reports whether a generation is full and may be published.
func (s *session) ready() (ready bool, err error) {
	err = s.use(func(w words) {
		filling := w.load(fillingWord)
		ready = filling == w.load(latestWord)+1 && s.layout.full(w, filling) && len(s.waitsFor(w)) == 0
	})
	return ready, err
}

// due reports whether it is worth while to ask for the lock: to publish, or to find a store.
func (s *session) due() (due bool) {
	ready, err := s.ready()
	if err != nil || ready {
		return true
	}
	return s.use(func(w words) { due = w.load(fillingWord) == 0 }) != nil || due
}

// publishDue publishes if there is something to. What goes wrong is told to OnError and tried again,
// by others too: it is not the failure of whoever has put the last sample.
func (s *session) publishDue(ctx context.Context) {
	if ready, err := s.ready(); err == nil && !ready {
		return
	}
	if err := s.locked(ctx, s.publish); err != nil {
		s.kick()
	}
}

// refuse frees slots whose records are damaged, so that what they hold is never published.
func (s *session) refuse(generation uint64, bad []int) error {
	err := s.use(func(w words) {
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
	m, err := readManifest(s.at)
	if err != nil {
		return failed("read", s.dir, manifestName, err)
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
	err = sh.arrange(needed)
	passing("arranged")
	return errors.Join(failed("publish", s.dir, "", ignoreBlocked(err)), s.fill(m.Latest+1, sh))
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
