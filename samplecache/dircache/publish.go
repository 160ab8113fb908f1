package dircache

import (
	"errors"
	"slices"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// searchPause is how long all sessions wait after an attempt to publish or to find a store has
// failed, before one of them tries again. Two events raise no word: a reader that does not use this
// package releases a generation, or the disk has room again.
const searchPause = 2 * time.Second

// advance publishes the generation that is being filled, if it is full and limits allow that, and
// finds a store for the next one. Before that it calls tidy. The lock is held.
//
// The rename of the MANIFEST publishes. complete does the rest: if a process is killed before
// complete has returned, the next session calls it again.
func (s *session) advance() (err error) {
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
			ready, err = s.complete(m)
		}
		if err != nil || !ready {
			return err
		}
	}
}

// state returns the generation published last, the one that is being filled, and whether advance
// has something to do. It has in three cases:
//
//   - the generation is full, and limits allow to publish it
//   - a generation was published, but complete has not returned
//   - the generation to be filled has no store
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
// time it is long ago, so if that session is killed, the next attempt is due.
const searching = 1

// searched stores the time of an attempt to publish, or to find a store, that failed. If
// searchAgain was called during the attempt, the next attempt is due nevertheless.
func (s *session) searched(failed bool) {
	word := &s.words[searchedWord]
	if _, filling, err := s.words.generations(); failed || err == nil && filling == 0 {
		word.CompareAndSwap(searching, now())
	} else {
		word.Store(0)
	}
}

// searchAgain makes the next attempt due. A session calls it after it has released a generation, or
// found a dead session: an attempt that is under way may have found the generation held.
func (s *session) searchAgain() { s.words[searchedWord].Store(0) }

// due reports whether to try to publish, or to find a store. After a failed attempt it returns
// false for searchPause.
func (s *session) due() bool {
	was := s.words[searchedWord].Load()
	return was == 0 || passed(was, searchPause)
}

// publish publishes the generation after m.Latest. If a record is missing, it corrects the word of
// that slot instead. It reports whether the next generation has a store.
func (s *session) publish(m *manifest) (bool, error) {
	began := time.Now()
	crashPoint("publishing")
	list, missing, err := s.collect(m, m.Latest+1)
	if err != nil || len(missing) > 0 {
		for _, i := range missing {
			s.correct(m.Latest+1, i)
		}
		return false, err
	}
	forgotten := func(p producerSpec) bool { return p.Window == (engine.Window{}) }
	next := *m
	next.Latest, next.Published, next.Before = m.Latest+1, began.Round(0).UTC(), m.Published
	next.Producers = slices.DeleteFunc(list, forgotten)
	if err := next.write(s.at, s.place.Mode()); err != nil {
		return false, failed("publish", s.dir, manifestName, err)
	}
	ready, err := s.complete(&next)
	s.words.tookSwap(next.Latest, time.Since(began))
	return ready, err
}

// complete completes a publication: it makes words, link and stores agree with the MANIFEST. It is
// idempotent. It reports whether the next generation has a store. The lock is held.
func (s *session) complete(m *manifest) (ready bool, err error) {
	s.words.seal(latestWord, m.Latest)
	crashPoint("latest stored")
	if err := s.raise(); err != nil { // so that readers need not wait for the rest
		return false, err
	}
	sl, err := s.listStores(m)
	if err != nil {
		return false, failed("publish", s.dir, "", err)
	}
	linkErr := failed("publish", s.dir, currentName, sl.linkCurrent())
	crashPoint("pointed")
	needed, err := s.needed(sl)
	if err != nil {
		return false, err
	}
	err = sl.assignNext(needed)
	crashPoint("provided")
	filling := uint64(0)
	if ready = sl.has(sl.next()); ready {
		filling = m.Latest + 1
	}
	s.words.seal(fillingWord, filling)
	crashPoint("open")
	return ready, errors.Join(linkErr, failed("publish", s.dir, "", err), s.raise())
}

// needed returns a function that reports whether a group needs a retired generation: not all ranks
// have closed an epoch of it, and [engine.Config.MaxHold] has not passed. It also stores the times
// of retirement.
func (s *session) needed(sl *storeList) (func(id uint64) bool, error) {
	g, err := s.groups()
	if err != nil {
		return nil, err
	}
	for _, st := range sl.list {
		if sl.retired(st) {
			s.words.retired(st.id)
		}
	}
	return func(id uint64) bool { return g.Needs(id) && s.holdLeft(id) > 0 }, err
}
