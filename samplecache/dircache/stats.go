package dircache

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// Stats implements engine.Session.
func (s *session) Stats(context.Context) (st engine.Stats, err error) {
	err = s.call(func() error { st, err = s.stats(); return err })
	return st, err
}

func (s *session) stats() (st engine.Stats, err error) {
	g, err := s.groups()
	if err != nil {
		return st, err
	}
	err = s.use(func(w words) error {
		latest, filling, err := w.generations()
		if err != nil {
			return err
		}
		st = engine.Stats{
			Latest: latest, Filling: latest + 1, Samples: s.samples(), Swaps: latest,
			SwapTook: time.Duration(w[swapTookWord].Load()) * time.Microsecond, Bytes: s.fixed.sampleBytes(),
		}
		if ms := w[swapAtWord].Load(); ms > 0 {
			st.LastSwap = time.UnixMilli(int64(ms))
		}
		s.slotStats(w, &st)
		s.memberStats(w, &st)
		p := s.progress(w, latest)
		g.Tidy(p, s.alive)
		st.Groups = g.Stats(p)
		st.PublishWaits = s.publishWaits(&st, filling, g.Waits(p))
		return nil
	})
	if err == nil {
		st.Held, err = s.putAside()
	}
	if err == nil {
		st.Producers, err = s.producerStats()
	}
	if st.PublishWaits == noRoom {
		st.PublishWaits = cmp.Or(s.fixed.Config.Held(st.Held), noRoom)
	}
	return st, err
}

// noRoom is what a generation waits for that has no store.
const noRoom = "room on the disk"

// publishWaits says what a full generation, or one that cannot be filled yet, waits for.
func (s *session) publishWaits(st *engine.Stats, filling uint64, groups []string) string {
	open := filling == st.Filling
	switch {
	case open && st.Committed < st.Samples:
		return ""
	case open && len(groups) > 0:
		return strings.Join(groups, " and ")
	}
	if pid := s.locker(); pid > 0 {
		return fmt.Sprintf("pid %d, which has the lock", pid)
	}
	if open {
		return "the next process that looks"
	}
	return noRoom
}

// slotStats counts the slots of the generation that is being filled.
func (s *session) slotStats(w words, st *engine.Stats) {
	for i := range s.samples() {
		v := w.slot(i).Load()
		if slotGeneration(v) != st.Filling {
			continue
		}
		switch slotState(v) {
		case slotCommitted:
			st.Committed++
		case slotReserved:
			st.Reserved++
			st.Slots = append(st.Slots, engine.SlotStats{Slot: i, PID: w.pid(slotSession(v)), For: since(w.since(i).Load())})
		}
	}
}

// memberStats lists who takes part.
func (s *session) memberStats(w words, st *engine.Stats) {
	for i := range maxSessions {
		pid := w.pid(i)
		if pid == 0 {
			continue
		}
		if _, _, held, err := s.locks.Held(sessionNumbers+int64(i), 1); held && err == nil || i == s.me {
			st.Members = append(st.Members, engine.MemberStats{PID: pid, For: since(w.joined(i).Load())})
		}
	}
}

// producerStats lists the producers that have put a sample. They are those of a moment: a generation
// may be published meanwhile, and then there are its records still.
func (s *session) producerStats() (list []engine.ProducerStats, err error) {
	m, err := s.manifest()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := m.Producers
	if st, err := s.writer(m.Latest + 1); err == nil { // there may be none
		if all, err = s.with(m.Producers, st, m.Latest+1); err != nil {
			return nil, err
		}
	}
	for _, p := range all {
		if p.Window == (engine.Window{}) {
			continue
		}
		pid := os.Getpid()
		if !s.names[p.Name] {
			pid = s.claimant(p.Name)
		}
		list = append(list, engine.ProducerStats{Name: p.Name, PID: pid, Window: p.Window})
	}
	return list, nil
}

// putAside returns the generations that are kept only because they are held.
func (s *session) putAside() (held []uint64, err error) {
	entries, err := os.ReadDir(s.at)
	if err != nil {
		return nil, s.fail("", bare(err))
	}
	for _, e := range entries {
		if st, ok := parseStore(e.Name()); ok && st.role == heldRole {
			held = append(held, st.id)
		}
	}
	return held, nil
}

// noSlot returns an error that says why there is no free slot.
func (s *session) noSlot() error {
	return engine.NoSlot(s.fixed.Config.Limits, func() (engine.Stats, error) { return s.Stats(context.Background()) })
}
