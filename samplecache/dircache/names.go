package dircache

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/samplecache"
)

// own makes the session the owner of a name, and returns its entry and life. The lock is held.
func (s *session) own(name string) (entry int, life uint64, err error) {
	owner, pid := uint64(0), uint64(0)
	failed := s.use(func(w words) {
		if entry = s.findName(w, name); entry < 0 {
			entry = s.addName(w, name, w.load(livesWord)+1)
		}
		if entry < 0 {
			return
		}
		life = w.load(s.layout.producer(entry) + producerLife)
		at := s.layout.producer(entry) + producerOwner
		if owner = w.load(at); owner == 0 {
			w.store(at, 1+uint64(s.me))
		} else if owner <= maxPeers {
			pid = w.load(s.layout.peer(int(owner)-1) + peerPID)
		}
	})
	switch {
	case failed != nil:
		err = failed
	case entry < 0:
		err = fmt.Errorf("%w: there are %d names already: Forget one", samplecache.ErrProducer, maxProducers)
	case owner != 0:
		err = fmt.Errorf("%w: by pid %d", samplecache.ErrProducerBusy, pid)
	}
	return entry, life, err
}

// findName returns the entry of a name, or -1.
func (s *session) findName(w words, name string) int {
	for i := range w.below(namesWord, maxProducers) {
		if w.hasName(s.layout.producer(i)+producerName, name) {
			return i
		}
	}
	return -1
}

// addName gives a name a free entry, without numbers, or returns -1 if there is none.
func (s *session) addName(w words, name string, life uint64) int {
	for i := range maxProducers {
		at := s.layout.producer(i)
		if w.load(at+producerName) != 0 {
			continue
		}
		w.raise(livesWord, life)
		w.store(at+producerOwner, 0)
		w.store(at+producerLife, life)
		for n := range samplecache.WindowSize {
			w.store(at+producerDone+n, 0)
		}
		w.raise(namesWord, uint64(i)+1)
		w.storeName(at+producerName, name)
		return i
	}
	return -1
}

// dropNames lets go of the names of a peer.
func (s *session) dropNames(w words, peer int) {
	for i := range w.below(namesWord, maxProducers) {
		if at := s.layout.producer(i) + producerOwner; w.load(at) == 1+uint64(peer) {
			w.store(at, 0)
		}
	}
}

// Forget implements samplecache.Session.
func (s *session) Forget(ctx context.Context, name string) error {
	err := checkName(samplecache.ErrProducer, name)
	if err != nil {
		return fmt.Errorf("forget %q: %w", name, err)
	}
	err = s.call(func() error { return s.locked(ctx, func() error { return s.forget(name) }) })
	if err != nil {
		return fmt.Errorf("forget %q: %w", name, err)
	}
	return nil
}

// forget frees the entry of a name. The lock is held.
func (s *session) forget(name string) error {
	if err := s.reap(); err != nil {
		return err
	}
	entry, owner := -1, uint64(0)
	err := s.use(func(w words) {
		if entry = s.findName(w, name); entry >= 0 {
			owner = w.load(s.layout.producer(entry) + producerOwner)
		}
	})
	switch {
	case err != nil:
		return err
	case entry < 0:
		return fmt.Errorf("%w: there is none of that name", samplecache.ErrProducer)
	case owner != 0:
		return samplecache.ErrProducerBusy
	}
	if err := s.unlist(name); err != nil {
		return err
	}
	passing("unlisted")
	return s.use(func(w words) { w.storeName(s.layout.producer(entry)+producerName, "") })
}

// unlist takes a name out of the MANIFEST.
func (s *session) unlist(name string) error {
	m, err := s.manifest()
	if err != nil {
		return err
	}
	n := len(m.Producers)
	m.Producers = slices.DeleteFunc(slices.Clone(m.Producers), func(p producerSpec) bool { return p.Name == name })
	if len(m.Producers) == n {
		return nil
	}
	return s.writeManifest(m)
}
