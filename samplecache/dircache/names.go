package dircache

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"os"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache"
)

// Claim implements samplecache.Session.
func (s *session) Claim(ctx context.Context, name string) (samplecache.Claim, error) {
	c := &claim{s: s, name: name, entry: -1}
	if name == "" {
		return c, s.call(func() error { return nil })
	}
	if err := checkName(samplecache.ErrProducer, name); err != nil {
		return nil, err
	}
	err := s.call(func() error {
		return s.locked(ctx, func() (err error) {
			if err = s.reap(); err == nil {
				c.entry, err = s.own(name)
			}
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("producer %q: %w", name, err)
	}
	return c, nil
}

// own makes the session the owner of a name, and returns its entry. The lock is held.
func (s *session) own(name string) (entry int, err error) {
	owner, pid := uint64(0), uint64(0)
	failed := s.use(func(w words) {
		if entry = s.findName(w, name); entry < 0 {
			entry = s.addName(w, name)
		}
		if entry < 0 {
			return
		}
		at := s.layout.producer(entry) + producerOwner
		if owner = w.load(at); owner == 0 {
			w.store(at, 1+uint64(s.me))
		} else if owner <= maxPeers {
			pid = w.load(s.layout.peer(int(owner)-1) + peerPID)
		}
	})
	switch {
	case failed != nil:
		return 0, failed
	case entry < 0:
		return 0, fmt.Errorf("%w: there are %d names already: Forget one", samplecache.ErrProducer, maxProducers)
	case owner != 0:
		return 0, fmt.Errorf("%w: by pid %d", samplecache.ErrProducerBusy, pid)
	}
	return entry, nil
}

// findName returns the entry of a name, or -1.
func (s *session) findName(w words, name string) int {
	for i := range maxProducers {
		if w.hasName(s.layout.producer(i)+producerName, name) {
			return i
		}
	}
	return -1
}

// addName gives a name a free entry, without numbers, or returns -1 if there is none.
func (s *session) addName(w words, name string) int {
	for i := range maxProducers {
		at := s.layout.producer(i)
		if w.load(at+producerName) != 0 {
			continue
		}
		w.store(at+producerOwner, 0)
		for n := range samplecache.WindowSize {
			w.store(at+producerDone+n, 0)
		}
		w.storeName(at+producerName, name)
		return i
	}
	return -1
}

// dropNames lets go of the names of a peer.
func (s *session) dropNames(w words, peer int) {
	for i := range maxProducers {
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
		if entry = s.findName(w, name); entry < 0 {
			return
		}
		at := s.layout.producer(entry)
		if owner = w.load(at + producerOwner); owner == 0 {
			w.storeName(at+producerName, "")
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
	return nil
}

// window returns the numbers of a producer that are committed. Of each 64 that follow each other,
// the word of a number is 1 + the largest committed one of its residue: so one store, whoever does
// it and however often, adds a number. The first that is not committed is less than 64 above each
// that is, since none is reserved farther off.
func (s *session) window(w words, entry int) samplecache.Window {
	at := s.layout.producer(entry) + producerDone
	var done [samplecache.WindowSize]uint64
	for i := range done {
		done[i] = w.load(at + i)
	}
	has := func(n uint64) bool { return done[n%samplecache.WindowSize] > n }
	win := samplecache.Window{Floor: slices.Max(done[:])}
	win.Floor -= min(win.Floor, samplecache.WindowSize)
	for has(win.Floor) {
		win.Floor++
	}
	for n := win.Floor; n < win.Floor+samplecache.WindowSize; n++ {
		if has(n) {
			win = win.With(n)
		}
	}
	return win
}

// done adds a number to those of a producer.
func (s *session) done(w words, entry int, number uint64) {
	w.raise(s.layout.producer(entry)+producerDone+int(number%samplecache.WindowSize), number+1)
}

// restore sets the numbers of a producer.
func (s *session) restore(w words, entry int, win samplecache.Window) {
	for n := win.Floor - min(win.Floor, samplecache.WindowSize); n < win.Floor+samplecache.WindowSize; n++ {
		if win.Has(n) {
			s.done(w, entry, n)
		}
	}
}

// windows returns the numbers of all producers.
func (s *session) windows() (list []producerSpec, err error) {
	err = s.use(func(w words) {
		for i := range maxProducers {
			if name := w.loadName(s.layout.producer(i) + producerName); name != "" {
				list = append(list, producerSpec{name, s.window(w, i)})
			}
		}
	})
	return list, err
}

// fold adds the numbers of all committed samples of the generation that is being filled to those of
// their producers: who committed one may have been killed before it could. It returns the slots
// whose records are damaged. The lock is held.
func (s *session) fold() (bad []int, err error) {
	var generation uint64
	if err := s.use(func(w words) { generation = w.load(fillingWord) }); err != nil || generation == 0 {
		return nil, err
	}
	records, err := s.mapRecords(store{generationRole, generation}, mapping.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer records.Close()
	b, err := records.Acquire()
	if err != nil {
		return nil, err
	}
	defer records.Release()
	err = s.use(func(w words) {
		names := map[uint64]string{} // by their entries
		for i := range s.layout.samples {
			if v := w.load(s.layout.slots + i); slotState(v) != slotCommitted || slotGeneration(v) != generation {
				continue
			}
			r := rowRecord(b, i, len(s.fixed.Schema))
			if !r.sound(generation) {
				bad = append(bad, i)
			} else if s.isProducer(w, r, names) {
				s.done(w, int(r.producer()), r.number())
			}
		}
	})
	return bad, err
}

// isProducer reports whether the producer of a record still has its entry. It remembers names.
func (s *session) isProducer(w words, r record, names map[uint64]string) bool {
	entry := r.producer()
	if entry >= maxProducers {
		return false
	}
	name, known := names[entry]
	if !known {
		name = w.loadName(s.layout.producer(int(entry)) + producerName)
		names[entry] = name
	}
	return name != "" && string(r.name()) == name
}

// mapRecords maps the records of a store.
func (s *session) mapRecords(st store, mode mapping.Mode) (*mapping.Mapping, error) {
	name := st.name() + recordsSuffix
	flag := os.O_RDONLY
	if mode == mapping.ReadWrite {
		flag = os.O_RDWR
	}
	f, err := os.OpenFile(filepath.Join(s.at, name), flag, 0)
	if err != nil {
		return nil, s.fail(name, err)
	}
	defer f.Close()
	samples, leaves := s.layout.samples, len(s.fixed.Schema)
	m, err := mapping.Map(f, recordsSize(samples, leaves), mode)
	if err != nil {
		return nil, s.fail(name, fmt.Errorf("%w: %w", samplecache.ErrCorrupt, err))
	}
	b, err := m.Acquire()
	if err == nil {
		err = checkRecordsHeader(b, samples, leaves)
		m.Release()
	}
	if err != nil {
		_ = m.Close() // nothing was done with it
		return nil, s.fail(name, err)
	}
	return m, nil
}

// A claim is the right to put samples under a name. It implements samplecache.Claim.
type claim struct {
	s     *session
	name  string
	entry int // -1 without a name
	over  atomic.Bool
}

// Window implements samplecache.Claim.
func (c *claim) Window() (win samplecache.Window, err error) {
	err = c.s.call(func() error {
		return c.s.use(func(w words) { win = c.s.window(w, c.entry) })
	})
	return win, err
}

// Close implements samplecache.Claim.
func (c *claim) Close() error {
	if c.over.Swap(true) {
		return samplecache.ErrClosed
	}
	if c.name == "" {
		return nil
	}
	return c.s.call(func() error {
		return c.s.use(func(w words) {
			w.cas(c.s.layout.producer(c.entry)+producerOwner, 1+uint64(c.s.me), 0)
		})
	})
}
