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
// gives the next one a store. Before that it calls tidy. The lock is held.
//
// A publication, where one generation is retained; latest and filling are words:
//
//	                       MANIFEST  latest  filling  stores
//	all rows committed     41        41      42       gen-40 gen-41 gen-42
//	publish     renames    42        41      42
//	complete    stores     42        42      42                             and wakes readers
//	            provides   42        42      42              gen-41 gen-42 gen-43, which was gen-40
//	            stores     42        42      43                             and wakes producers
//
// The rename of the MANIFEST publishes. If a process is killed afterwards, the next one that takes
// the lock finds words that differ from the MANIFEST, and calls complete. While more than MaxHeld
// retired generations are read, there is no store for the next one: then filling is 0, and a later
// call of complete provides one.
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
		if err == nil && latest == m.Latest && filling == latest+1 {
			m, err = s.publish(m)
		}
		if err != nil || m == nil {
			return err
		}
		open, err := s.complete(m)
		if m.Latest > latest {
			s.words.tookSwap(m.Latest, time.Since(m.Published))
		}
		if err != nil || !open {
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

// publish publishes the generation after m.Latest, and returns the new MANIFEST. If a record was
// damaged since full has read it, publish returns nil.
func (s *session) publish(m *manifest) (*manifest, error) {
	began := time.Now()
	crashPoint("publishing")
	list, missing, err := s.collect(m, m.Latest+1)
	if err != nil || missing {
		return nil, err
	}
	forgotten := func(p producerSpec) bool { return p.Window == (engine.Window{}) }
	next := *m
	next.Latest, next.Published, next.Before = m.Latest+1, began.Round(0).UTC(), m.Published
	next.Producers = slices.DeleteFunc(list, forgotten)
	return &next, failed("publish", s.dir, manifestName, next.write(s.at, s.place.Mode()))
}

// complete makes words and stores agree with the MANIFEST. Each of its steps may be repeated. It
// reports whether the next generation has a store. The lock is held.
func (s *session) complete(m *manifest) (open bool, err error) {
	s.words.seal(latestWord, m.Latest)
	crashPoint("latest stored")
	if err := s.raise(); err != nil { // so that readers need not wait for the rest
		return false, err
	}
	sl, err := s.listStores(m)
	if err != nil {
		return false, failed("publish", s.dir, "", err)
	}
	needed, err := s.needed(sl)
	if err != nil {
		return false, err
	}
	err = sl.provide(needed)
	crashPoint("provided")
	filling := uint64(0)
	if open = sl.ready(); open {
		filling = sl.next()
	}
	s.words.seal(fillingWord, filling)
	crashPoint("open")
	return open, errors.Join(failed("publish", s.dir, "", err), s.raise())
}

// needed returns a function that reports whether a group needs a retired generation: not all ranks
// have closed an epoch of it, and [engine.Config.MaxHold] has not passed. It also stores the times
// of retirement.
func (s *session) needed(sl *storeList) (func(id uint64) bool, error) {
	g, err := s.groups()
	if err != nil {
		return nil, err
	}
	for _, id := range sl.list {
		if sl.m.retired(id) {
			s.words.retired(id)
		}
	}
	return func(id uint64) bool { return g.Needs(id) && s.holdLeft(id) > 0 }, err
}
