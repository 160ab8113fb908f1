package samplecache

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// A hold is a generation that the engine keeps for the process. All Generations of that number
// share it.
type hold struct {
	cache *Cache
	id    uint64
	rows  engine.Rows
	gate  gate            // for those who read
	right []atomic.Uint64 // a bit for each row whose sums were compared
	users int             // Generations that are not closed; guarded by cache.mu
	ended chan struct{}   // closed when rows is
	once  sync.Once
}

// tryOpen returns one more Generation of a number.
func (c *Cache) tryOpen(ctx context.Context, id uint64) (*Generation, error) {
	h, err := c.hold(ctx, id)
	if err != nil {
		return nil, err
	}
	g, err := newGeneration(h)
	if err != nil {
		_ = h.drop() // err says what is wrong
	}
	return g, err
}

// hold returns a hold with one more user.
func (c *Cache) hold(ctx context.Context, id uint64) (*hold, error) {
	if h := c.shared(id); h != nil {
		return h, nil
	}
	if err := c.until(ctx, c.opening); err != nil {
		return nil, err
	}
	defer c.opening.done()
	if h := c.shared(id); h != nil {
		return h, nil
	}
	rows, err := c.session.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return c.newHold(id, rows), nil
}

// shared returns one more user of a hold, or nil. A generation that has lapsed can be opened again
// only if the engine says so.
func (c *Cache) shared(id uint64) *hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.holds[id]
	if h == nil || h.lapsed() {
		return nil
	}
	h.users++
	return h
}

// newHold returns a hold with one user. Rows of generations that are not retained any more are
// forgotten.
func (c *Cache) newHold(id uint64, rows engine.Rows) *hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newest = max(c.newest, id)
	maps.DeleteFunc(c.verified, func(id uint64, _ []atomic.Uint64) bool {
		return id+uint64(max(c.about.Config.Retain, 0)) < c.newest && c.holds[id] == nil
	})
	if c.verified[id] == nil {
		c.verified[id] = make([]atomic.Uint64, (c.about.Config.Samples+63)/64)
	}
	h := &hold{cache: c, id: id, rows: rows, right: c.verified[id], users: 1, ended: make(chan struct{})}
	h.gate.start(&c.lent)
	c.holds[id] = h
	if over := rows.Lapsed(); over != nil {
		go h.watch(over)
	}
	return h
}

// lapsed reports whether the generation was held for too long.
func (h *hold) lapsed() bool { return ready(h.rows.Lapsed()) }

// watch lets go of a generation that was held for too long, once nobody reads it.
func (h *hold) watch(over <-chan struct{}) {
	select {
	case <-over:
		empty, _ := h.gate.shut()
		<-empty
		_ = h.end() // nobody waits for it
	case <-h.ended:
	case <-h.cache.life:
	}
}

// drop takes a user off, and lets go with the last.
func (h *hold) drop() error {
	c := h.cache
	c.mu.Lock()
	h.users--
	last := h.users == 0
	if last && c.holds[h.id] == h {
		delete(c.holds, h.id)
	}
	c.mu.Unlock()
	if !last {
		return nil
	}
	return h.end()
}

// end closes the generation at the engine.
func (h *hold) end() (err error) {
	h.once.Do(func() {
		close(h.ended)
		err = h.cache.call(h.rows.Close)
	})
	return err
}
