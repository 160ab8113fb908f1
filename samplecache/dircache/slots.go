package dircache

import (
	"time"

	"github.com/go-tensordict/tensordict/samplecache/dircache/internal/host"
)

// The word of a slot has a generation, a session, and a state. It is a hint. The session that has
// the lock of a slot fills the slot. A slot is committed if its record is sound.
const (
	slotFree      = 0
	slotReserved  = 1
	slotCommitted = 2
)

func slotWord(generation uint64, session int, state uint64) uint64 {
	return generation<<16 | uint64(session)<<2 | state
}

func slotGeneration(v uint64) uint64 { return v >> 16 }
func slotSession(v uint64) int       { return int(v >> 2 & (1<<14 - 1)) }
func slotState(v uint64) uint64      { return v & 3 }

// isFree reports whether v is the word of a slot that is free in a generation. So is every word of
// an earlier generation.
func isFree(v, generation uint64) bool {
	return slotGeneration(v) < generation || v == slotWord(generation, slotSession(v), slotFree)
}

// isCommitted reports whether v is the word of a slot that is committed in a generation.
func isCommitted(v, generation uint64) bool {
	return slotGeneration(v) == generation && slotState(v) == slotCommitted
}

// A cursor is where a session continues to look in the slots of a generation.
type cursor struct {
	generation uint64
	next       int // where to look for a free slot
	lead       int // slots before it are committed
}

// seek moves the cursor to a generation. Each session begins at another slot, so that its slots are
// neighbors: the kernel merges the locks of neighbors, and it searches a list of all locks. With a
// ratio all sessions begin at slot 0; see room. s.mu is held.
func (s *session) seek(generation uint64) {
	if s.cursor.generation == generation {
		return
	}
	s.cursor = cursor{generation: generation}
	if s.fixed.Config.Limits.PerInsert == 0 {
		const golden = 0x9E3779B1 // 1<<32 / golden ratio: its multiples are far apart
		s.cursor.next = int(uint64(uint32(s.me)*golden) * uint64(s.samples()) >> 32)
	}
}

// reserve locks a free slot below room. st is the store of the generation. s.mu is held.
func (s *session) reserve(st *writer, generation uint64, room int) (slot int, ok bool, err error) {
	s.seek(generation)
	for k := range s.samples() {
		i := (s.cursor.next + k) % s.samples()
		v := s.words.slot(i).Load()
		if i >= room || !isFree(v, generation) || s.rows[i] != nil {
			continue
		}
		if ok, err = s.lockSlot(st, generation, i, v); ok || err != nil {
			s.cursor.next = (i + 1) % s.samples()
			return i, ok, err
		}
	}
	return 0, false, nil
}

// lockSlot locks a slot whose word is v. It returns false if another session was faster, or if the
// record says that the slot is committed.
func (s *session) lockSlot(st *writer, generation uint64, i int, v uint64) (ok bool, err error) {
	word, mine := s.words.slot(i), slotWord(generation, s.me, slotReserved)
	if !word.CompareAndSwap(v, mine) {
		return false, nil
	}
	crashPoint("slot marked")
	if ok, err = s.locks.Try(slotNumbers+int64(i), 1); err != nil || !ok {
		word.CompareAndSwap(mine, slotWord(generation, 0, slotFree))
		return false, err
	}
	state := st.state(i, generation)
	if state == slotFree && word.Load() == mine {
		s.words.since(i).Store(now())
		return true, nil
	}
	return false, s.unlockSlot(generation, i, state)
}

// unlockSlot unlocks a slot, and then stores its state in the word.
func (s *session) unlockSlot(generation uint64, i int, state uint64) error {
	err := s.locks.Unlock(slotNumbers+int64(i), 1)
	crashPoint("slot unlocked")
	s.words.slot(i).CompareAndSwap(slotWord(generation, s.me, slotReserved), slotWord(generation, s.me, state))
	return err
}

// full reports whether all slots of a generation are committed, according to their words.
func (s *session) full(generation uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seek(generation)
	for s.cursor.lead < s.samples() && isCommitted(s.words.slot(s.cursor.lead).Load(), generation) {
		s.cursor.lead++
	}
	return s.cursor.lead == s.samples()
}

// committed returns how many slots of a generation are committed, according to their words.
func (s *session) committed(generation uint64) (n int) {
	for i := range s.samples() {
		if isCommitted(s.words.slot(i).Load(), generation) {
			n++
		}
	}
	return n
}

// reservedEver returns the total number of samples there are if every slot up to the last one that
// is reserved now is committed.
func (s *session) reservedEver(latest uint64) int64 {
	n := 0
	for i := range s.samples() {
		if v := s.words.slot(i).Load(); slotGeneration(v) == latest+1 && slotState(v) != slotFree {
			n = i + 1
		}
	}
	return int64(latest)*int64(s.samples()) + int64(n)
}

// sweepTime is how long each part of a sweep may take. The next sweep continues where it ended.
const sweepTime = 5 * time.Millisecond

// sweepSlots frees the slots of dead sessions, and then corrects the other words that are damaged.
// The second part comes last because it reads all records, which takes longer. Each part takes at
// most limit. sweepSlots reports whether it corrected a word.
func (s *session) sweepSlots(generation uint64, limit time.Duration) bool {
	freed := s.correctAll(generation, true, &s.freed, limit)
	return s.correctAll(generation, false, &s.swept, limit) || freed
}

// correctAll corrects words, beginning at slot *from: words that say reserved, or the others.
func (s *session) correctAll(generation uint64, reserved bool, from *int, limit time.Duration) (found bool) {
	end, corrected := host.Monotonic()+limit, 0
	for k := range s.samples() {
		i := (*from + k) % s.samples()
		v := s.words.slot(i).Load()
		if reserved == (isFree(v, generation) || isCommitted(v, generation)) {
			continue
		}
		found = s.correct(generation, i) || found
		if corrected++; corrected%64 == 0 && host.Monotonic() > end {
			*from = i
			break
		}
	}
	return found
}

// correct corrects the word of a slot. It reports whether the word was wrong.
func (s *session) correct(generation uint64, i int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	word := s.words.slot(i)
	v, mine := word.Load(), slotWord(generation, s.me, slotReserved)
	if s.rows[i] != nil {
		return v != mine && word.CompareAndSwap(v, mine)
	}
	st, err := s.writer(generation)
	if err != nil || st.agrees(v, i, generation) {
		return false
	}
	ok, err := s.locks.Try(slotNumbers+int64(i), 1)
	if err != nil || !ok { // another session fills it
		filled := slotWord(generation, slotSession(v), slotReserved)
		return isCommitted(v, generation) && word.CompareAndSwap(v, filled)
	}
	// If Unlock fails, the next sweep corrects the word.
	defer func() { _ = s.locks.Unlock(slotNumbers+int64(i), 1) }()
	if _, filling, err := s.words.generations(); err != nil || filling != generation {
		return false
	}
	s.reportDamage(st.record(i), generation, i)
	return word.CompareAndSwap(v, slotWord(generation, s.me, st.state(i, generation)))
}
