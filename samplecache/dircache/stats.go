package dircache

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
)

// Stats implements samplecache.Session.
func (s *session) Stats(context.Context) (st samplecache.Stats, err error) {
	err = s.call(func() error {
		err := s.use(func(w words) { st = s.stats(w) })
		if err == nil {
			st.Held, err = s.putAside()
		}
		if len(st.Held) > 0 && st.PublishWaits == noRoom {
			st.PublishWaits = fmt.Sprintf("%s, as generations %v, which are not retained any more, are still read", noRoom, st.Held)
		}
		return err
	})
	return st, err
}

func (s *session) stats(w words) samplecache.Stats {
	latest := w.load(latestWord)
	st := samplecache.Stats{
		Latest: latest, Filling: latest + 1, Samples: s.layout.samples, Swaps: latest,
		SwapTook: time.Duration(w.load(swapTookWord)) * time.Microsecond, Bytes: s.fixed.sampleBytes(),
	}
	if ms := w.load(swapAtWord); ms > 0 {
		st.LastSwap = time.UnixMilli(int64(ms))
	}
	st.PublishWaits = s.publishWaits(w)
	s.slotStats(w, &st)
	s.memberStats(w, &st)
	return st
}

// noRoom is what a generation waits for that has no store.
const noRoom = "room on the disk"

// publishWaits says what a full generation, or one that cannot be filled yet, waits for.
func (s *session) publishWaits(w words) string {
	next := w.load(latestWord) + 1
	pid := s.locker(w)
	switch open := w.load(fillingWord) == next; {
	case open && !s.layout.full(w, next):
		return ""
	case open && len(s.waitsFor(w)) > 0:
		return strings.Join(s.waitsFor(w), " and ")
	case pid > 0:
		return fmt.Sprintf("pid %d, which has the lock", pid)
	case open:
		return "the next process that looks"
	}
	return noRoom
}

// memberStats lists who takes part.
func (s *session) memberStats(w words, st *samplecache.Stats) {
	for i := range w.below(peersWord, maxPeers) {
		if at := s.layout.peer(i); w.load(at+peerJoin) != 0 {
			st.Members = append(st.Members, samplecache.MemberStats{PID: int(w.load(at + peerPID)), For: since(w.load(at + peerSince))})
		}
	}
	for i := range w.below(namesWord, maxProducers) {
		at := s.layout.producer(i)
		if name := w.loadName(at + producerName); name != "" {
			st.Producers = append(st.Producers, samplecache.ProducerStats{
				Name: name, PID: s.pid(w, int(w.load(at+producerOwner))-1), Window: s.window(w, i)})
		}
	}
	for g := range s.live(w) {
		at := s.layout.group(g)
		st.Groups = append(st.Groups, samplecache.GroupStats{
			Name: w.loadName(at + groupName), World: int(w.load(at + groupWorld)), Members: int(w.load(at + groupMembers)),
			Taken: int64(w.load(at + groupTaken)), Current: int64(s.rowsOf(w, g, st.Latest))})
	}
}

// slotStats counts the slots of the generation that is being filled.
func (s *session) slotStats(w words, st *samplecache.Stats) {
	for i := range s.layout.samples {
		v := w.load(s.layout.slots + i)
		if slotGeneration(v) != st.Filling {
			continue
		}
		switch slotState(v) {
		case slotCommitted:
			st.Committed++
		case slotReserved:
			st.Reserved++
			st.Slots = append(st.Slots, samplecache.SlotStats{
				Slot: i, PID: s.pid(w, slotHolder(v)), For: since(w.load(s.layout.since + i))})
		}
	}
}

// pid returns the pid of a peer, 0 if there is none.
func (s *session) pid(w words, peer int) int {
	if peer < 0 || peer >= maxPeers || w.load(s.layout.peer(peer)+peerJoin) == 0 {
		return 0
	}
	return int(w.load(s.layout.peer(peer) + peerPID))
}

// putAside returns the generations that are kept only because they are held.
func (s *session) putAside() (held []uint64, err error) {
	entries, err := os.ReadDir(s.at)
	if err != nil {
		return nil, s.fail("", err)
	}
	for _, e := range entries {
		if st, ok := parseStore(e.Name()); ok && st.role == heldRole {
			held = append(held, st.id)
		}
	}
	return held, nil
}

// blocked returns an error that says what is waited for.
func (s *session) blocked(what string) error {
	return &samplecache.BlockedError{Why: func() string { return "waiting for " + what }}
}

// blockedReserve returns an error that says why there is no free slot.
func (s *session) blockedReserve() error {
	return &samplecache.BlockedError{Why: func() string {
		st, err := s.Stats(context.Background())
		if err != nil {
			return err.Error()
		}
		return "waiting for a free slot: " + whyNoSlot(&st, s.fixed.Config.Limits.PerInsert > 0)
	}}
}

// whyNoSlot says what keeps slots from being free, the slot that was reserved first before others.
func whyNoSlot(st *samplecache.Stats, limited bool) string {
	switch {
	case st.PublishWaits != "" && st.Committed == st.Samples:
		return fmt.Sprintf("generation %d is full and waits for %s", st.Filling, st.PublishWaits)
	case st.PublishWaits != "":
		return fmt.Sprintf("generation %d waits for %s", st.Filling, st.PublishWaits)
	case len(st.Slots) == 0 && st.Committed < st.Samples && limited:
		return fmt.Sprintf("limits allow no more than the %d samples that generation %d has, before groups take more rows", st.Committed, st.Filling)
	case len(st.Slots) == 0:
		return "there was none a moment ago"
	}
	first := st.Slots[0]
	for _, slot := range st.Slots {
		if slot.For > first.For {
			first = slot
		}
	}
	return fmt.Sprintf("%d of %d samples of generation %d are committed, and %d slots are held, slot %d longest, by pid %d for %v",
		st.Committed, st.Samples, st.Filling, len(st.Slots), first.Slot, first.PID, first.For.Round(time.Millisecond))
}
