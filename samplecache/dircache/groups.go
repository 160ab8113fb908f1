package dircache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// progress returns what counts of groups are compared with.
func (s *session) progress(latest uint64) *engine.Progress {
	return &engine.Progress{Config: s.fixed.Config, Latest: latest, Committed: func() int { return s.committed(latest + 1) }}
}

// room returns how many slots of the generation that is being filled may be reserved: those with the
// least indices, so that no two processes need agree on who has the last.
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

// change changes the counts of groups with fn, which reports whether it has. The lock is held.
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

// alive reports whether a member, or who has a part in an epoch, is alive.
func (s *session) alive(holder uint64) bool {
	at := holderNumbers + int64(holder)
	if s.owns(at) {
		return true
	}
	_, _, held, err := s.locks.Held(at, 1)
	return held || err != nil
}

// tidy settles the counts of groups. The lock is held.
func (s *session) tidy() error {
	return s.change(func(g *engine.Groups, p *engine.Progress) (bool, error) { return g.Tidy(p, s.alive), nil })
}

// grabHolder takes the lock of a holder that was just given out.
func (s *session) grabHolder(holder uint64) error {
	ok, err := s.grab(holderNumbers+int64(holder), 1)
	if err == nil && !ok {
		err = fmt.Errorf("%w: the counts of groups are damaged", engine.ErrCorrupt)
	}
	return err
}

// drop gives the lock of a holder back, and has the counts settled. If the lock of the cache is not
// free, the watch does that.
func (s *session) drop(holder uint64) error {
	if err := s.release(holderNumbers + int64(holder)); err != nil {
		return err
	}
	passing("holder dropped")
	if err := s.locked(s.goOn); err != nil {
		s.complain(err)
		s.Changed()
	}
	return nil
}

// A seat is a membership of a group. It implements engine.Seat.
type seat struct {
	s      *session
	name   string
	holder uint64
	over   atomic.Bool
}

// Enter implements engine.Session.
func (s *session) Enter(_ context.Context, name string, world int) (engine.Seat, error) {
	st := &seat{s: s, name: name}
	if err := s.call(func() error { return s.locked(func() error { return st.enter(world) }) }); err != nil {
		return nil, err
	}
	return st, nil
}

// enter becomes a member. The lock is held.
//
// What was reserved is counted again once others can see the group: a process that had not seen it
// may have reserved a slot meanwhile.
func (st *seat) enter(world int) error {
	s := st.s
	err := s.change(func(g *engine.Groups, p *engine.Progress) (_ bool, err error) {
		g.Tidy(p, s.alive)
		if st.holder, err = g.Enter(p, st.name, world, s.reservedEver(p.Latest)); err == nil {
			err = s.grabHolder(st.holder)
		}
		return true, err
	})
	if err != nil {
		return errors.Join(err, s.release(holderNumbers+int64(st.holder)))
	}
	passing("entered")
	err = s.change(func(g *engine.Groups, p *engine.Progress) (bool, error) {
		s.words[sequenceWord].Add(1) // no load of what follows is done before the counts are stored
		return g.CatchUp(p, st.name, s.reservedEver(p.Latest)), nil
	})
	return errors.Join(err, s.raise())
}

// Close implements engine.Seat.
func (st *seat) Close() error {
	if st.over.Swap(true) {
		return engine.ErrClosed
	}
	return st.s.call(func() error { return st.s.drop(st.holder) })
}

// A pass is a part in an epoch. It implements engine.Pass.
type pass struct {
	st     *seat
	epoch  uint64
	holder uint64
	id     uint64
	over   atomic.Bool
}

// Begin implements engine.Seat.
func (st *seat) Begin(_ context.Context, epoch uint64, want engine.Want) (engine.Pass, error) {
	p := &pass{st: st, epoch: epoch}
	err := st.s.call(func() error {
		if st.over.Load() {
			return engine.ErrClosed
		}
		if err := st.mayBegin(epoch); err != nil {
			return err
		}
		return st.s.locked(func() error { return p.begin(want) })
	})
	switch {
	case err != nil && st.over.Load(): // meanwhile
		return nil, engine.ErrClosed
	case err != nil:
		return nil, err
	}
	return p, nil
}

// mayBegin returns [engine.ErrBlocked] if an epoch has to wait. It needs no lock, so that who waits
// wakes nobody.
func (st *seat) mayBegin(epoch uint64) error {
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

// begin finds the epoch, or fixes its generation, and takes part. The lock is held.
func (p *pass) begin(want engine.Want) error {
	s := p.st.s
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
		if p.holder, p.id, err = g.Begin(at, p.st.name, p.epoch, want.Generation); err == nil {
			err = s.grabHolder(p.holder)
		}
		passing("epoch begun")
		return true, err
	})
	if err != nil {
		return errors.Join(err, s.release(holderNumbers+int64(p.holder)))
	}
	return s.raise()
}

// ID implements engine.Pass.
func (p *pass) ID() uint64 { return p.id }

// Take implements engine.Pass.
func (p *pass) Take(_ context.Context, n int) (taken int, err error) {
	s := p.st.s
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
				s.complain(s.goOn())
			} else if limits.PerInsert == 0 {
				return nil
			}
			return s.raise()
		})
	})
	if err == nil && taken == 0 {
		err = engine.Waiting(fmt.Sprintf("more samples: group %q has taken as many rows as limits allow", p.st.name))
	}
	return taken, err
}

// Close implements engine.Pass.
func (p *pass) Close() error {
	if p.over.Swap(true) {
		return engine.ErrClosed
	}
	return p.st.s.call(func() error { return p.st.s.drop(p.holder) })
}
