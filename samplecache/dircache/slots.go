package dircache

import (
	"errors"
	"os"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// A row of the generation that is being filled is a slot. It is committed if its record is sound.
// Otherwise it is reserved if a session has its lock, and free if none has: when a process dies,
// the kernel frees its locks, and so its slots.
//
// A generation is full if all slots are committed and no session has the lock of one: then nobody
// writes to its store any more.

// slotNumber returns the number whose lock a session has that fills a slot. Neighbors have other
// numbers in the next generation: a session may be slow to unlock one.
func slotNumber(generation uint64, i int) int64 {
	return slotNumbers + int64(generation%1024)<<20 + int64(i)
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
	n := s.samples()
	for k := 0; k < n; k++ {
		i := (s.cursor.next + k) % n
		if i >= room || s.rows[i] != nil || st.record(i).sound(generation) {
			continue
		}
		if ok, err = s.lockSlot(st, generation, i); ok || err != nil {
			s.cursor.next = (i + 1) % n
			return i, ok, err
		}
		from, size, held, err := s.locks.Held(slotNumber(generation, i), 1)
		if err != nil {
			return 0, false, err
		}
		if held { // neighbors are mostly reserved by the same session
			k += min(int(from+size-slotNumber(generation, i)), n-i) - 1
		}
	}
	return 0, false, nil
}

// lockSlot locks a slot. It returns false if another session has the lock, or has committed the
// slot meanwhile.
func (s *session) lockSlot(st *writer, generation uint64, i int) (ok bool, err error) {
	if ok, err = s.locks.Try(slotNumber(generation, i), 1); err != nil || !ok {
		return false, err
	}
	crashPoint("slot locked")
	r := st.record(i)
	free := !r.sound(generation)
	_, filling, err := s.words.generations()
	if err != nil || !free || filling != generation { // in a later generation the store may be another's
		return false, errors.Join(err, s.unlockSlot(generation, i))
	}
	s.reportDamage(r, generation, i)
	r.hold(generation, s.me, now())
	return true, nil
}

func (s *session) unlockSlot(generation uint64, i int) error {
	err := s.locks.Unlock(slotNumber(generation, i), 1)
	crashPoint("slot unlocked")
	return err
}

// full reports whether a generation is full.
func (s *session) full(generation uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.writer(generation)
	if err != nil {
		return false // Reserve returns the error
	}
	s.seek(generation)
	for s.cursor.lead < s.samples() && s.rows[s.cursor.lead] == nil && st.record(s.cursor.lead).sound(generation) {
		s.cursor.lead++
	}
	if s.cursor.lead < s.samples() || len(s.rows) > 0 {
		return false
	}
	_, _, held, err := s.locks.Held(slotNumber(generation, 0), int64(s.samples()))
	return err == nil && !held
}

// committed returns how many slots of a generation are committed.
func (s *session) committed(generation uint64) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.writer(generation)
	for i := 0; err == nil && i < s.samples(); i++ {
		if s.rows[i] == nil && st.record(i).of(generation) {
			n++
		}
	}
	return n
}

// look reports whether a slot is committed, or reserved by another session. s.mu is held, and this
// session does not fill the slot.
func (s *session) look(st *writer, generation uint64, i int) (committed, reserved bool) {
	r := st.record(i)
	if r.generation() != generation || r.of(generation) {
		return r.of(generation), false
	}
	_, _, reserved, err := s.locks.Held(slotNumber(generation, i), 1)
	return false, reserved && err == nil
}

// reservedEver returns the total number of samples there are if every slot up to the last one that
// is reserved now is committed.
func (s *session) reservedEver(latest uint64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.samples()
	for st, err := s.writer(latest + 1); n > 0 && s.rows[n-1] == nil; n-- {
		if err != nil {
			continue // there may be no store yet
		}
		if committed, reserved := s.look(st, latest+1, n-1); committed || reserved {
			break
		}
	}
	return int64(latest)*int64(s.samples()) + int64(n)
}

// slotStats counts the slots of the generation that is being filled.
func (s *session) slotStats(st *engine.Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.writer(st.Filling)
	pid := os.Getpid() // a system call
	for i := 0; err == nil && i < s.samples(); i++ {
		one := engine.SlotStats{Slot: i, PID: pid}
		if own := s.rows[i]; own != nil {
			one.For = since(own.began)
		} else if committed, reserved := s.look(w, st.Filling, i); committed {
			st.Committed++
			continue
		} else if reserved {
			session, us := w.record(i).holder()
			one.PID, one.For = s.words.pid(session), since(us)
		} else {
			continue
		}
		st.Reserved++
		st.Slots = append(st.Slots, one)
	}
}
