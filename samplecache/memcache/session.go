package memcache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tensor"
)

// A handle is a session, or something that a session gave out. It is dead if it or its session is
// closed.
type handle struct {
	e       *Engine
	session *handle
	since   time.Time
	closed  bool
}

func (h *handle) dead() bool { return h == nil || h.closed || h.session.closed }

// give returns a new handle of the same session. holder is its number in [engine.Groups], or 0.
func (h *handle) give(holder uint64) *handle {
	h.e.holders[holder] = &handle{e: h.e, session: h.session, since: time.Now()}
	return h.e.holders[holder]
}

// These types implement the interfaces of package engine with the same names.
type (
	session struct{ *handle }
	claim   struct {
		*handle
		name   string
		window engine.Window // when the name was claimed
	}
	row struct {
		*handle
		info    engine.Info
		g       *generation
		slot    int
		outcome error // result of Commit after the handle was closed; nil if the row was committed
	}
	rows struct {
		*handle
		g *generation
	}
	seat struct {
		*handle
		group string
	}
	pass struct {
		seat
		epoch, id uint64
	}
)

// use calls fn and then step, unless that is nil, with the mutex held. It returns engine.ErrClosed
// if the handle is dead.
func use[T any](h *handle, step func(), fn func() (T, error)) (result T, err error) {
	h.e.mu.Lock()
	defer h.e.mu.Unlock()
	if h.dead() {
		return result, engine.ErrClosed
	}
	made, err := fn()
	if err != nil {
		return result, err
	}
	if step != nil {
		step()
	}
	return made, nil
}

// Close implements Close for all types that have a handle.
func (h *handle) Close() error {
	_, err := use(h, h.e.step, func() (any, error) { h.closed = true; return nil, nil })
	return err
}

func (s *session) About() engine.About                         { return s.e.about }
func (s *session) Stats(context.Context) (engine.Stats, error) { return use(s.handle, nil, s.e.stats) }
func (s *session) Latest(context.Context) (uint64, error) {
	return use(s.handle, nil, func() (uint64, error) { return s.e.progress.Latest, nil })
}

func (s *session) Changed() <-chan struct{} {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	return s.e.changed
}

func (s *session) Claim(_ context.Context, name string) (engine.Claim, error) {
	return use(s.handle, s.e.step, func() (engine.Claim, error) {
		if !s.e.claims[name].dead() {
			return nil, engine.ErrProducerBusy
		}
		s.e.claims[name] = s.give(0)
		return &claim{s.e.claims[name], name, s.e.windows[name]}, nil
	})
}

func (s *session) Forget(_ context.Context, name string) error {
	_, err := use(s.handle, nil, func() (any, error) {
		if !s.e.claims[name].dead() {
			return nil, engine.ErrProducerBusy
		}
		if s.e.windows[name] == (engine.Window{}) {
			return nil, fmt.Errorf("%w: no sample was put under it", engine.ErrProducer)
		}
		delete(s.e.windows, name)
		return nil, nil
	})
	return err
}

func (s *session) Enter(_ context.Context, group string, world int) (engine.Seat, error) {
	return use(s.handle, s.e.step, func() (engine.Seat, error) {
		p, g := &s.e.progress, s.e.filling
		reserved := int64(p.Latest)*int64(p.Config.Samples) + int64(g.committed+len(g.reserved))
		holder, err := s.e.groups.Enter(p, group, world, reserved)
		return &seat{s.give(holder), group}, err
	})
}

func (s *session) Open(_ context.Context, id uint64) (engine.Rows, error) {
	return use(s.handle, nil, func() (engine.Rows, error) {
		g := s.e.kept[id]
		if g == nil {
			return nil, engine.ErrGenerationGone
		}
		g.readers = append(g.readers, s.give(0))
		return &rows{g.readers[len(g.readers)-1], g}, nil
	})
}

func (r *rows) Info(row int) (engine.Info, error) {
	info := r.g.infos[row]
	info.Sums = slices.Clone(info.Sums) // the caller may change them
	return info, nil
}

func (r *rows) Place(leaf int) (tensor.Lender, int)            { return r.g.place(leaf, 0) }
func (r *rows) Read(context.Context, []int, int, []byte) error { return errors.ErrUnsupported }
func (r *rows) Lapsed() <-chan struct{}                        { return r.g.lapsed }

// place returns the lender of a leaf, and the offset of a row.
func (g *generation) place(leaf, row int) (tensor.Lender, int) {
	if len(g.leaves[leaf]) == 0 {
		return nil, 0
	}
	return &memory{g.leaves[leaf]}, row * (len(g.leaves[leaf]) / len(g.infos))
}

// A memory lends a leaf of a generation. It implements tensor.Lender. samplecache decides which
// tensors are writable.
type memory struct{ bytes []byte }

func (m *memory) Borrow() ([]byte, error) { return m.bytes, nil }
func (m *memory) Return()                 {}
func (m *memory) Pin() ([]byte, error)    { return m.bytes, nil }
func (m *memory) ReadOnly() bool          { return false }
func (m *memory) Identity() any           { return &m.bytes[0] }

func (c *claim) Window() engine.Window { return c.window }
func (c *claim) Reserve(_ context.Context, number uint64) (engine.Row, error) {
	return use(c.handle, nil, func() (engine.Row, error) {
		e, g, n := c.e, c.e.filling, len(c.e.filling.free)-1
		if n < 0 || g.committed+len(g.reserved) >= e.groups.Room(&e.progress) {
			return nil, engine.NoSlot(e.about.Config.Limits, func() (engine.Stats, error) { return use(c.handle, nil, e.stats) })
		}
		r := &row{c.give(0), engine.Info{Producer: c.name, Number: number}, g, g.free[n], engine.ErrClosed}
		g.free, g.reserved = g.free[:n], append(g.reserved, r)
		return r, nil
	})
}

func (r *row) Abort() error                        { return r.Close() }
func (r *row) Place(leaf int) (tensor.Lender, int) { return r.g.place(leaf, r.slot) }
func (r *row) Commit(_ context.Context, sums []uint32) error {
	_, err := use(r.session, r.e.step, func() (any, error) {
		if r.closed {
			return nil, r.outcome
		}
		name := r.info.Producer
		r.info.Time, r.info.Sums = time.Now(), slices.Clone(sums)
		r.g.infos[r.slot] = r.info
		if name != "" {
			r.e.windows[name] = r.e.windows[name].With(r.info.Number)
		}
		r.g.committed++
		r.closed, r.outcome = true, nil
		return nil, nil
	})
	return err
}

func (st *seat) Begin(_ context.Context, epoch uint64, want engine.Want) (engine.Pass, error) {
	return use(st.handle, st.e.step, func() (engine.Pass, error) {
		if id := want.Generation; id > 0 && st.e.kept[id] == nil {
			if want.Generation = 0; !want.OrLatest {
				return nil, engine.ErrGenerationGone
			}
		}
		holder, id, err := st.e.groups.Begin(&st.e.progress, st.group, epoch, want.Generation)
		return &pass{seat{st.give(holder), st.group}, epoch, id}, err
	})
}

func (p *pass) ID() uint64 { return p.id }
func (p *pass) Take(_ context.Context, n int) (int, error) {
	return use(p.handle, p.e.step, func() (int, error) {
		if g := p.e.groups.Group(p.group); g != nil {
			n = g.Take(&p.e.progress, p.epoch, n)
		}
		if n == 0 {
			return 0, engine.Waiting(fmt.Sprintf("more samples: group %q has taken all rows that limits allow", p.group))
		}
		return n, nil
	})
}
