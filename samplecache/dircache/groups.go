package dircache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// progress returns the state of the cache with which counts of groups are compared.
func (s *session) progress(latest uint64) *engine.Progress {
	return &engine.Progress{Config: s.fixed.Config, Latest: latest, Committed: func() int { return s.committed(latest + 1) }}
}

// room returns how many slots of the generation that is being filled may be reserved: slot i may if
// i is less than room. So processes need not agree on the order in which they reserve.
func (s *session) room(latest uint64) (int, error) {
	if s.fixed.Config.Limits.PerInsert == 0 {
		return s.samples(), nil
	}
	g, err := s.groups()
	if err != nil {
		return 0, err
	}
	return g.Room(s.progress(latest)), nil
}

// change changes the counts of groups with fn, which reports whether it has changed them. The lock
// is held.
func (s *session) change(fn func(g *engine.Groups, p *engine.Progress) (bool, error)) error {
	g, err := s.groups()
	if err != nil {
		return err
	}
	latest, err := s.words.sealed(latestWord)
	if err != nil {
		return err
	}
	if changed, err := fn(g, s.progress(latest)); err != nil || !changed {
		return err
	}
	return s.writeGroups(g)
}

// alive reports whether the session that has a holder is alive.
func (s *session) alive(holder uint64) bool {
	at := holderNumbers + int64(holder)
	if s.owns(at) {
		return true
	}
	_, _, held, err := s.locks.Held(at, 1)
	return held || err != nil
}

// tidy removes dead holders from the counts of groups, and ends epochs that all ranks have
// closed. If that changed the counts, limits may allow more: it wakes all sessions. The lock is
// held.
func (s *session) tidy() (err error) {
	changed := false
	err = s.change(func(g *engine.Groups, p *engine.Progress) (bool, error) {
		changed = g.Tidy(p, s.alive)
		return changed, nil
	})
	if err == nil && changed {
		err = s.raise()
	}
	return err
}

// A holder is a membership in a group, or a pass in an epoch. It has a lock.
type holder struct {
	s      *session
	number uint64
	over   atomic.Bool
}

// take locks the number of h, which is new.
func (h *holder) take() error {
	ok, err := h.s.grab(holderNumbers+int64(h.number), 1)
	if err == nil && !ok {
		err = errCounts
	}
	return err
}

// drop unlocks the number, if it is locked.
func (h *holder) drop() error { return h.s.release(holderNumbers + int64(h.number)) }

// Close unlocks the number and updates the counts. If the lock of the cache is not free, the watch
// updates them.
func (h *holder) Close() error {
	if h.over.Swap(true) {
		return engine.ErrClosed
	}
	return h.s.call(func() error {
		if err := h.drop(); err != nil {
			return err
		}
		h.s.searchAgain()
		crashPoint("holder dropped")
		if err := h.s.locked(h.s.advance); err != nil {
			h.s.report(err)
			h.s.Changed()
		}
		return nil
	})
}

// A seat is a membership in a group. It implements engine.Seat.
type seat struct {
	holder
	name string
}

func (s *session) Enter(_ context.Context, name string, world int) (engine.Seat, error) {
	st := &seat{holder{s: s}, name}
	return callValue(s, func() (engine.Seat, error) {
		return st, s.locked(func() error { return st.enter(world) })
	})
}

// enter becomes a member. The lock is held.
//
// enter counts the reserved slots twice: a process that did not see the new group yet may have
// reserved one before the counts were written.
func (st *seat) enter(world int) error {
	s := st.s
	err := s.change(func(g *engine.Groups, p *engine.Progress) (_ bool, err error) {
		g.Tidy(p, s.alive)
		if st.number, err = g.Enter(p, st.name, world, s.reservedEver(p.Latest)); err == nil {
			err = st.take()
		}
		return true, err
	})
	if err != nil {
		return errors.Join(err, st.drop())
	}
	crashPoint("entered")
	err = s.change(func(g *engine.Groups, p *engine.Progress) (bool, error) {
		s.words[sequenceWord].Add(1) // a memory barrier: counts are stored before records are loaded
		return g.CatchUp(p, st.name, s.reservedEver(p.Latest)), nil
	})
	if err = errors.Join(err, s.raise()); err != nil {
		return errors.Join(err, st.drop())
	}
	return nil
}

// A pass is the part of one rank in an epoch. It implements engine.Pass.
type pass struct {
	holder
	st    *seat
	epoch uint64
	id    uint64
}

func (st *seat) Begin(_ context.Context, epoch uint64, want engine.Want) (engine.Pass, error) {
	p := &pass{holder: holder{s: st.s}, st: st, epoch: epoch}
	return callValue(st.s, func() (engine.Pass, error) {
		err := st.mayBegin(epoch)
		if err == nil {
			err = st.s.locked(func() error { return p.begin(want) })
		}
		if err != nil && st.over.Load() { // the seat was closed meanwhile
			err = engine.ErrClosed
		}
		return p, err
	})
}

// mayBegin returns [engine.ErrBlocked] if the epoch has to wait. It does not take the lock, so a
// rank that waits does not wake others.
func (st *seat) mayBegin(epoch uint64) error {
	if st.over.Load() {
		return engine.ErrClosed
	}
	g, err := st.s.groups()
	if err != nil {
		return err
	}
	latest, err := st.s.words.sealed(latestWord)
	if one := g.Group(st.name); err == nil && one != nil {
		err = one.Begins(st.s.progress(latest), epoch)
	}
	return err
}

// begin begins the pass, and fixes the generation of the epoch if it has none. The lock is held.
func (p *pass) begin(want engine.Want) error {
	s := p.s
	if want.Generation != 0 {
		err := s.kept(want.Generation)
		if errors.Is(err, engine.ErrGenerationGone) && want.OrLatest {
			want.Generation, err = 0, nil
		}
		if err != nil {
			return err
		}
	}
	err := s.change(func(g *engine.Groups, at *engine.Progress) (_ bool, err error) {
		g.Tidy(at, s.alive)
		if p.number, p.id, err = g.Begin(at, p.st.name, p.epoch, want.Generation); err == nil {
			err = p.take()
		}
		crashPoint("epoch begun")
		return true, err
	})
	if err == nil {
		err = s.raise()
	}
	if err != nil {
		return errors.Join(err, p.drop())
	}
	return nil
}

func (p *pass) ID() uint64 { return p.id }

func (p *pass) Take(_ context.Context, n int) (taken int, err error) {
	s := p.s
	err = s.call(func() error {
		if p.over.Load() {
			return engine.ErrClosed
		}
		return s.locked(func() error {
			err := s.change(func(g *engine.Groups, at *engine.Progress) (bool, error) {
				taken = n
				if one := g.Group(p.st.name); one != nil {
					taken = one.Take(at, p.epoch, n)
				}
				return taken > 0, nil
			})
			if limits := s.fixed.Config.Limits; err != nil || taken == 0 {
				return err
			} else if limits.MinPasses > 0 {
				s.report(s.advance())
			} else if limits.PerInsert == 0 {
				return nil
			}
			return s.raise()
		})
	})
	if err == nil && taken == 0 {
		err = engine.Waiting(fmt.Sprintf("more samples: group %q has taken all rows that limits allow", p.st.name))
	}
	return taken, err
}
