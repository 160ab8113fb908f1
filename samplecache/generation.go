package samplecache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Generation is a published set of samples, held until Close: its rows do not change and stay
// readable, however many generations are published meanwhile. There is one exception: with
// [Config.MaxHold], a generation can be read only for that long after it was retired. Then reads
// return [ErrGenerationGone].
//
// It is a loader.Source, Slicer and Describer: loader.New(g, opt) makes mini-batches of it, with
// all options for orders, ranks and workers.
//
// Safe for concurrent use.
type Generation struct {
	id       uint64
	cache    *Cache
	rows     *held
	gate     gate            // entered by reads; shut by Close, and when the generation lapses
	closed   atomic.Bool     // Close was called
	verified []atomic.Uint64 // a bit for each row whose checksums were compared; shared
	src      loader.Source   // all rows
	inMemory bool            // if false, src has no elements and the engine copies them
	pass     engine.Pass     // nil if it was opened without a group
	credit   atomic.Int64    // rows that limits have allowed and that were not returned yet
}

var (
	_ loader.Source    = (*Generation)(nil)
	_ loader.Slicer    = (*Generation)(nil)
	_ loader.Describer = (*Generation)(nil)
)

// A held is a generation that the engine holds. All Generations with the same number share it.
type held struct {
	engine.Rows
	id    uint64
	cache *Cache
	users int // guarded by cache.mu
}

// hold returns the held of generation id, with one more user. If it has lapsed, the engine may be
// able to open it again.
func (c *Cache) hold(ctx context.Context, id uint64) (*held, error) {
	c.mu.Lock()
	h := c.held[id]
	if h != nil && !ready(h.Lapsed()) {
		h.users++
		c.mu.Unlock()
		return h, nil
	}
	c.mu.Unlock()
	rows, err := c.session.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	h = &held{rows, id, c, 1}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[id] = h
	return h, nil
}

// Close removes a user, and closes the generation at the engine after the last one.
func (h *held) Close() error {
	c := h.cache
	c.mu.Lock()
	h.users--
	last := h.users == 0
	if last && c.held[h.id] == h {
		delete(c.held, h.id)
	}
	c.mu.Unlock()
	if !last {
		return nil
	}
	return h.Rows.Close()
}

// tryOpen opens a generation.
func (c *Cache) tryOpen(ctx context.Context, id uint64) (*Generation, error) {
	rows, err := c.hold(ctx, id)
	if err != nil {
		return nil, err
	}
	g := &Generation{id: id, cache: c, rows: rows, verified: c.verifiedRows(id), inMemory: true}
	td, err := c.lend(g, shapeops.Shape{g.Len()}, rows.Place)
	if err == nil {
		td.Lock("it is a published generation: change a Copy of it")
		g.src, err = loader.From(td)
	}
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	for _, x := range td.Tensors() {
		g.inMemory = g.inMemory && x.Device() != tensor.Meta
	}
	g.gate.start(&c.lent)
	if over := rows.Lapsed(); over != nil {
		go g.watch(over)
	}
	return g, nil
}

// watch ends a generation that was held for too long.
func (g *Generation) watch(over <-chan struct{}) {
	select {
	case <-over:
		_ = g.end() // no caller to return it to
	case <-g.gate.empty:
	case <-g.cache.life:
	}
}

// end closes the generation at the engine, once no read uses it. It is idempotent.
func (g *Generation) end() error {
	if !g.gate.shut() {
		return nil
	}
	if ready(g.gate.empty) {
		return g.cache.call(g.rows.Close)
	}
	go func() {
		<-g.gate.empty
		_ = g.cache.call(g.rows.Close) // nothing was written that could be lost
	}()
	return nil
}

// ID returns the number of the generation. The first is 1.
func (g *Generation) ID() uint64 { return g.id }

// Len returns the number of samples.
func (g *Generation) Len() int {
	if g.cache == nil {
		return 0
	}
	return g.cache.about.Config.Samples
}

// enter begins an operation on the engine's memory; leave must follow.
func (g *Generation) enter() error {
	if g.cache != nil && !ready(g.rows.Lapsed()) && g.gate.enter() {
		return nil
	}
	if g.cache == nil || g.closed.Load() || !g.cache.lent.isOpen() {
		return fmt.Errorf("%s: %w", g.name(), ErrClosed)
	}
	return fmt.Errorf("%s: %w: it was held for more than %v after it was retired",
		g.name(), ErrGenerationGone, g.cache.about.Config.MaxHold)
}

func (g *Generation) leave() { g.gate.leave() }

func (g *Generation) name() string { return fmt.Sprintf("generation %d", g.id) }

// Describe implements loader.Describer. Its Version identifies the generation, so that the state of
// a loader says which generation it was reading: see [Cache.Resume].
func (g *Generation) Describe() (loader.Description, error) {
	if g.cache == nil {
		return loader.Description{}, errClosed
	}
	about, err := g.src.(loader.Describer).Describe()
	about.Version = g.cache.version(g.id)
	return about, err
}

// Close releases the generation. Views of it return [ErrClosed] afterwards; operations that have
// begun complete. Close returns ErrClosed if it was called before.
//
// After Close, or after a read has returned [ErrGenerationGone], do not use slices that tensor.Of
// or tdict.Slice returned for views of the generation. For data that may be used longer, call
// tensor.Read, or Fetch, which copies.
func (g *Generation) Close() error {
	if g.cache == nil || g.closed.Swap(true) || !g.cache.lent.isOpen() {
		return fmt.Errorf("%s: %w", g.name(), ErrClosed)
	}
	err := g.end()
	if g.pass != nil {
		err = errors.Join(err, g.cache.call(g.pass.Close))
	}
	return err
}
