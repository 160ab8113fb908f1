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
	s.words[searchedWord].Store(searching)
	defer func() {
		s.mu.Lock()
		s.trouble = err
		s.mu.Unlock()
		s.searched(err != nil)
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
			ready, err = s.settle(m)
		}
		if err != nil || !ready {
			return err
		}
	}
}

// state returns the generation published last, the one that is being filled, and whether there is
// something to do for goOn: a generation is full and may be published, or was published and that was
// not told, or the next one has no store.
func (s *session) state() (latest, filling uint64, ready bool, err error) {
	latest, filling, err = s.words.generations()
	if err != nil || filling != latest+1 {
		return latest, filling, true, err
	}
	if ready = s.full(filling); ready && s.fixed.Config.Limits.MinPasses > 0 {
		var g *engine.Groups
		g, err = s.groups()
		ready = err == nil && len(g.Waits(s.progress(latest))) == 0
	}
	return latest, filling, ready, err
}

// searching is the value of searchedWord while a session tries to publish or to find a store. As a
// time it is long ago: if that session is killed, the next attempt is due.
const searching = 1

// searched stores when it failed last to publish, or to find a store. If searchAgain was called
// during the attempt, the next attempt is due nevertheless.
func (s *session) searched(failed bool) {
	word := &s.words[searchedWord]
	if _, filling, err := s.words.generations(); failed || err == nil && filling == 0 {
		word.CompareAndSwap(searching, now())
	} else {
		word.Store(0)
	}
}

// searchAgain makes the next attempt due. A session calls it once it has let go of a generation,
// which an attempt under way may have found held.
func (s *session) searchAgain() { s.words[searchedWord].Store(0) }

// due reports whether to try to publish, or to find a store. It returns false for a while after an
// attempt that has failed.
func (s *session) due() bool {
	was := s.words[searchedWord].Load()
	return was == 0 || passed(was, searchPause)
}

// publish publishes the generation after m.Latest, unless its records say that it is not full: then
// it has the slots looked at again.
func (s *session) publish(m *manifest) (bool, error) {
	began := time.Now()
	passing("publishing")
	list, missing, err := s.collect(m, m.Latest+1)
	if err != nil || len(missing) > 0 {
		for _, i := range missing {
			s.mend(m.Latest+1, i)
		}
		return false, err
	}
	forgotten := func(p producerSpec) bool { return p.Window == (engine.Window{}) }
	next := *m
	next.Latest, next.Published, next.Producers = m.Latest+1, began.Round(0).UTC(), slices.DeleteFunc(list, forgotten)
	if err := next.write(s.at, s.place.Mode()); err != nil {
		return false, failed("publish", s.dir, manifestName, err)
	}
	ready, err := s.settle(&next)
	s.words[swapAtWord].Store(uint64(began.UnixMilli()))
	s.words[swapTookWord].Store(uint64(time.Since(began) / time.Microsecond))
	return ready, err
}

// settle makes everything as the MANIFEST says, and reports whether the next generation has a store.
// It is idempotent. The lock is held.
func (s *session) settle(m *manifest) (ready bool, err error) {
	s.words.seal(latestWord, m.Latest)
	passing("latest stored")
	if err := s.raise(); err != nil { // who waits for it need not wait for the rest
		return false, err
	}
	sh, err := s.lookAt(m)
	if err != nil {
		return false, failed("publish", s.dir, "", err)
	}
	unpointed := failed("publish", s.dir, currentName, sh.point())
	passing("pointed")
	needed, err := s.needed(sh)
	if err != nil {
		return false, err
	}
	err = sh.provide(needed)
	passing("provided")
	filling := uint64(0)
	if ready = sh.has(sh.next()); ready {
		filling = m.Latest + 1
	}
	s.words.seal(fillingWord, filling)
	passing("open")
	return ready, errors.Join(unpointed, failed("publish", s.dir, "", err), s.raise())
}

// needed returns what says whether a group needs a generation that is retired: an epoch has it that
// not all ranks have closed, and [engine.Config.MaxHold] has not passed.
func (s *session) needed(sh *shelf) (func(id uint64) bool, error) {
	g, err := s.groups()
	if err != nil {
		return nil, err
	}
	for _, st := range sh.list {
		if sh.retired(st) {
			s.words.retired(st.id)
		}
	}
	return func(id uint64) bool { return g.Needs(id) && s.holdLeft(id) > 0 }, err
}
