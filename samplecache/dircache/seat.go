package dircache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
)

// A seat is a membership of a group. It implements samplecache.Seat.
type seat struct {
	s     *session
	name  string
	world int
	group int
	index int
	over  atomic.Bool
}

// Enter implements samplecache.Session.
func (s *session) Enter(ctx context.Context, name string, world int) (samplecache.Seat, error) {
	st := &seat{s: s, name: name, world: world}
	err := checkName(samplecache.ErrGroup, name)
	if err == nil && (world < 1 || world > maxSeats/2/epochsKept) {
		err = fmt.Errorf("%w: got %d ranks, want 1 to %d", samplecache.ErrGroup, world, maxSeats/2/epochsKept)
	}
	if err == nil {
		err = s.call(func() error { return s.locked(ctx, st.enter) })
	}
	if err != nil {
		return nil, fmt.Errorf("group %q: %w", name, err)
	}
	return st, nil
}

// enter becomes a member. The lock is held.
func (st *seat) enter() (err error) {
	if err := st.s.reap(); err != nil {
		return err
	}
	failed := st.s.use(func(w words) {
		st.s.tidy(w)
		if err = st.find(w); err != nil {
			return
		}
		if members := w.load(st.s.layout.group(st.group) + groupMembers); members >= uint64(st.world) {
			err = fmt.Errorf("%w: it has %d members already, as many as ranks", samplecache.ErrGroup, members)
			return
		}
		st.index = st.s.takeSeat(w, seatWord(seatMember, st.s.me, st.group, 0))
		if st.index < 0 {
			err = fmt.Errorf("%w: there are %d seats, all taken", samplecache.ErrGroup, maxSeats)
		}
		passing("seat taken")
		st.s.tidy(w)
		st.s.catchUp(w, st.group)
	})
	if failed != nil {
		return failed
	}
	return err
}

// catchUp counts again for a group that has just got its first member what was put while it
// entered: a process that has not seen the group may have reserved a slot.
func (s *session) catchUp(w words, group int) {
	at := s.layout.group(group)
	if s.fixed.Config.Limits.PerInsert == 0 || w.load(at+groupMembers) != 1 || w.load(at+groupEpochs+epochNumber) != 0 {
		return
	}
	w.raise(at+groupTaken, uint64(s.fixed.Config.Limits.Joins(s.reservedEver(w))))
}

// reservedEver returns how many samples there are if every slot is committed up to the last that is
// reserved now.
func (s *session) reservedEver(w words) int64 {
	latest := w.load(latestWord)
	n := 0
	for i := range s.layout.samples {
		if v := w.load(s.layout.slots + i); slotState(v) != slotFree && slotGeneration(v) == latest+1 {
			n = i + 1
		}
	}
	return int64(latest)*int64(s.layout.samples) + int64(n)
}

// find finds the entry of the group, or makes it.
func (st *seat) find(w words) error {
	free := -1
	for g := range maxGroups {
		at := st.s.layout.group(g)
		world := int(w.load(at + groupWorld))
		if world == 0 {
			if free < 0 {
				free = g
			}
			continue
		}
		if w.hasName(at+groupName, st.name) {
			st.group = g
			if world != st.world {
				return fmt.Errorf("%w: got %d ranks, the others say %d", samplecache.ErrGroup, st.world, world)
			}
			return nil
		}
	}
	if free < 0 {
		return fmt.Errorf("%w: there are %d groups already", samplecache.ErrGroup, maxGroups)
	}
	st.group = free
	st.make(w)
	return nil
}

// make makes an entry for the group.
func (st *seat) make(w words) {
	s, at := st.s, st.s.layout.group(st.group)
	for i := range groupWords {
		w.store(at+i, 0)
	}
	w.storeName(at+groupName, st.name)
	w.store(at+groupSince, w.load(latestWord))
	w.store(at+groupTaken, uint64(s.fixed.Config.Limits.Joins(s.reservedEver(w))))
	w.store(at+groupWorld, uint64(st.world))
}

// Close implements samplecache.Seat.
func (st *seat) Close() error {
	if st.over.Swap(true) {
		return samplecache.ErrClosed
	}
	return st.s.giveUp(st.index, seatWord(seatMember, st.s.me, st.group, 0), 0)
}

// giveUp changes a seat, and does what follows.
//
// That needs the lock, for which Close does not wait long: it will be done.
func (s *session) giveUp(index int, from, to uint64) error {
	return s.call(func() error {
		if err := s.use(func(w words) { w.cas(s.layout.seats+index, from, to) }); err != nil {
			return err
		}
		passing("seat given up")
		s.untidy.Store(true)
		ctx, cancel := context.WithTimeout(s.life, patience)
		defer cancel()
		err := s.locked(ctx, func() error { return errors.Join(s.tidyAll(), s.goOn()) })
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			time.AfterFunc(lockPause, s.kick)
		case err != nil:
			s.complain(err)
		}
		return nil
	})
}

// tidyAll is tidy of all groups, if a seat was given up. The lock is held.
func (s *session) tidyAll() error {
	if !s.untidy.Swap(false) {
		return nil
	}
	err := s.use(s.tidy)
	if err != nil {
		s.untidy.Store(true)
	}
	return err
}
