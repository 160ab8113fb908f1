package mongowire

import (
	"context"
	"slices"
	"sync"
)

// A budget is a number of bytes that users share, first come, first served. Safe for concurrent
// use.
type budget struct {
	most int64

	mu    sync.Mutex
	used  int64
	queue []*claim
}

// A claim is a user that waits for n bytes.
type claim struct {
	n     int64
	ready chan struct{}
}

// take waits for n bytes, or for all bytes if n is more, and returns the number of bytes taken.
// Call give afterwards.
func (b *budget) take(ctx context.Context, n int64) (int64, error) {
	c := &claim{min(n, b.most), make(chan struct{})}
	b.mu.Lock()
	b.queue = append(b.queue, c)
	b.serve()
	b.mu.Unlock()
	select {
	case <-c.ready:
		return c.n, nil
	case <-ctx.Done():
		b.leave(c)
		return 0, context.Cause(ctx)
	}
}

// give gives n bytes back.
func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	b.serve()
}

// shrink reduces the claims that wait to at most n bytes.
func (b *budget) shrink(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.queue {
		c.n = min(c.n, n)
	}
	b.serve()
}

// serve serves the claims that wait, in order. b.mu is held.
func (b *budget) serve() {
	for len(b.queue) > 0 && b.used+b.queue[0].n <= b.most {
		b.used += b.queue[0].n
		close(b.queue[0].ready)
		b.queue = b.queue[1:]
	}
}

// leave withdraws a claim.
func (b *budget) leave(c *claim) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.queue, c)
	if i >= 0 {
		b.queue = slices.Delete(b.queue, i, i+1)
	} else {
		b.used -= c.n // served in the meantime
	}
	b.serve()
}
