package dircache

import (
	"iter"
)

// A seat is one word: what a peer has in a group. It is changed with the lock held.
const (
	seatFree   = 0
	seatMember = 1 // a membership
	seatOpen   = 2 // a rank's part in an epoch
	seatDone   = 3 // such a part that was closed, or whose process is dead
)

const seatEpochs = 1 << 24 // epochs are told apart by these many last numbers

func seatWord(state uint64, peer, group int, epoch uint64) uint64 {
	return epoch%seatEpochs<<24 | uint64(group)<<16 | uint64(peer)<<2 | state
}

func seatState(v uint64) uint64 { return v & 3 }
func seatPeer(v uint64) int     { return int(v >> 2 & (1<<14 - 1)) }
func seatGroup(v uint64) int    { return int(v >> 16 & 0xFF) }
func seatEpoch(v uint64) uint64 { return v >> 24 }

// An epoch's generation, which pass over it the epoch is, and whether it is settled: all ranks have
// closed it, and what they did not take counts as taken.
const settledBit = 1 << 47

func which(generation, pass uint64) uint64 { return min(pass, 0xFFFF)<<31 | generation }
func whichGeneration(v uint64) uint64      { return v & (1<<31 - 1) }
func whichPass(v uint64) uint64            { return v >> 31 & 0xFFFF }

// live yields the groups that have members.
func (s *session) live(w words) iter.Seq[int] {
	return func(yield func(int) bool) {
		for g := range maxGroups {
			if w.load(s.layout.group(g)+groupMembers) > 0 && !yield(g) {
				return
			}
		}
	}
}

// tidy counts the members of all groups, and settles their epochs. A group without members is
// forgotten. The lock is held.
func (s *session) tidy(w words) {
	counts := s.countSeats(w)
	for g := range maxGroups {
		if w.load(s.layout.group(g)+groupWorld) != 0 {
			s.tidyGroup(w, g, counts[g])
		}
	}
}

// seatCounts say how many members a group has, how many parts in epochs are open, and how many in
// each epoch are over.
type seatCounts struct {
	members, open int
	done          map[uint64]int
}

func (s *session) tidyGroup(w words, group int, counts seatCounts) {
	at := s.layout.group(group)
	w.store(at+groupMembers, uint64(counts.members))
	if counts.members == 0 && counts.open == 0 {
		s.forgetGroup(w, group)
		return
	}
	last := uint64(0) // the last pass begun that all have closed: the ranks have left those before
	for i := range epochsKept {
		number := w.load(s.layout.epoch(group, i) + epochNumber)
		if number != 0 && uint64(counts.done[(number-1)%seatEpochs]) >= w.load(at+groupWorld) {
			last = max(last, begunAt(w.load(s.layout.epoch(group, i)+epochWhich)))
		}
	}
	for i := range epochsKept {
		at := s.layout.epoch(group, i)
		if w.load(at+epochNumber) != 0 && begunAt(w.load(at+epochWhich)) <= last {
			s.settleEpoch(w, group, i)
		}
	}
	s.freeForgotten(w, group)
}

// begunAt orders passes by when they were begun, given which they are.
func begunAt(v uint64) uint64 { return whichGeneration(v)<<16 | whichPass(v) }

// freeForgotten frees the seats of those who have closed an epoch that is not remembered.
func (s *session) freeForgotten(w words, group int) {
	kept := map[uint64]bool{}
	for i := range epochsKept {
		if number := w.load(s.layout.epoch(group, i) + epochNumber); number != 0 {
			kept[(number-1)%seatEpochs] = true
		}
	}
	for i := range w.below(seatsWord, maxSeats) {
		v := w.load(s.layout.seats + i)
		if seatState(v) == seatDone && seatGroup(v) == group && !kept[seatEpoch(v)] {
			w.store(s.layout.seats+i, 0)
		}
	}
}

// countSeats counts the seats of all groups.
func (s *session) countSeats(w words) (counts [maxGroups]seatCounts) {
	for i := range w.below(seatsWord, maxSeats) {
		v := w.load(s.layout.seats + i)
		if seatState(v) == seatFree {
			continue
		}
		if seatGroup(v) >= maxGroups {
			panic(badWord(s.layout.seats + i))
		}
		c := &counts[seatGroup(v)]
		switch {
		case seatState(v) == seatMember:
			c.members++
		case seatState(v) == seatOpen:
			c.open++
		case seatState(v) == seatDone && c.done == nil:
			c.done = map[uint64]int{seatEpoch(v): 1}
		case seatState(v) == seatDone:
			c.done[seatEpoch(v)]++
		}
	}
	return counts
}

// settleEpoch counts the rows of an epoch that nobody has taken as taken, as far as limits allow: a
// pass that ends early is used up, or nothing could go on.
func (s *session) settleEpoch(w words, group, i int) {
	at := s.layout.epoch(group, i)
	v := w.load(at + epochWhich)
	if v&settledBit != 0 {
		return
	}
	if left := int64(s.layout.samples) - int64(w.load(at+epochTaken)); left > 0 {
		taken := s.layout.group(group) + groupTaken
		most := s.fixed.Config.Limits.MaxTaken(s.inserts(w, true))
		was := int64(w.load(taken))
		w.raise(taken, uint64(max(was, min(was+left, most))))
	}
	w.store(at+epochWhich, v|settledBit)
}

// forgetGroup frees the entry of a group without members, and its seats.
func (s *session) forgetGroup(w words, group int) {
	for i := range w.below(seatsWord, maxSeats) {
		if v := w.load(s.layout.seats + i); seatState(v) == seatDone && seatGroup(v) == group {
			w.store(s.layout.seats+i, 0)
		}
	}
	w.store(s.layout.group(group)+groupWorld, 0)
}

// dropSeats ends what a peer has in groups. The lock is held.
func (s *session) dropSeats(w words, peer int) {
	for i := range w.below(seatsWord, maxSeats) {
		v := w.load(s.layout.seats + i)
		if seatPeer(v) != peer {
			continue
		}
		switch seatState(v) {
		case seatMember:
			w.store(s.layout.seats+i, 0)
		case seatOpen:
			w.store(s.layout.seats+i, v&^3|seatDone)
		}
	}
	s.tidy(w) // also what was given up and not tidied
}

// takeSeat returns a free seat, which is taken, or -1.
func (s *session) takeSeat(w words, v uint64) int {
	for i := range maxSeats {
		if w.load(s.layout.seats+i) == 0 {
			w.raise(seatsWord, uint64(i)+1)
			w.store(s.layout.seats+i, v)
			return i
		}
	}
	return -1
}

// neededByGroups returns what says whether a group needs a generation that is not retained any
// more: an epoch has it that not all ranks have closed, and [samplecache.Config.MaxHold] has not
// passed.
func (s *session) neededByGroups(sh *shelf) (func(id uint64) bool, error) {
	needed := map[uint64]bool{}
	err := s.use(func(w words) {
		old := map[uint64]bool{}
		for _, st := range sh.stores {
			if sh.retired(st) {
				old[st.id] = since(s.retiredSince(w, st.id)) > s.fixed.Config.MaxHold
			}
		}
		for g := range s.live(w) {
			for i := range epochsKept {
				at := s.layout.epoch(g, i)
				v := w.load(at + epochWhich)
				if id := whichGeneration(v); w.load(at+epochNumber) != 0 && v&settledBit == 0 && !old[id] {
					needed[id] = true
				}
			}
		}
	})
	return func(id uint64) bool { return needed[id] }, err
}

// retiredSince returns when a generation was retired, which is now if that is not known.
func (s *session) retiredSince(w words, id uint64) uint64 {
	at := s.layout.retired + int(id%retiredKept)*retiredWords
	if w.load(at+retiredID) != id {
		w.store(at+retiredAt, now())
		w.store(at+retiredID, id)
	}
	return w.load(at + retiredAt)
}
