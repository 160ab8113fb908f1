package dircache

import (
	"context"
	"sync"

	"github.com/go-tensordict/tensordict/samplecache"
)

// A gate counts who is inside, and can be shut. The zero gate is open. Safe for concurrent use.
type gate struct {
	mu     sync.Mutex
	inside int
	shut   bool
	empty  chan struct{} // closed when the last has left a shut gate; nil unless somebody waits
}

// enter reports whether the gate was open; then leave must follow.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shut {
		g.inside++
	}
	return !g.shut
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.inside == 0 && g.empty != nil {
		close(g.empty)
		g.empty = nil
	}
}

// nobodyInside is closed.
var nobodyInside = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// close lets nobody in any more, and returns a channel that is closed once nobody is inside. It
// reports whether the gate was open.
func (g *gate) close() (empty <-chan struct{}, first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	first = !g.shut
	g.shut = true
	if g.inside == 0 {
		return nobodyInside, first
	}
	if g.empty == nil {
		g.empty = make(chan struct{})
	}
	return g.empty, first
}

// closeWait is close that waits until nobody is inside. If ctx ends first, or closed is closed, the
// gate is open again. It reports false if the gate was shut already.
func (g *gate) closeWait(ctx context.Context, closed <-chan struct{}) (first bool, err error) {
	empty, first := g.close()
	if !first {
		return false, nil
	}
	select {
	case <-empty:
		return true, nil
	default:
	}
	select {
	case <-empty:
		return true, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-closed:
		err = samplecache.ErrClosed
	}
	g.open()
	return true, err
}

// open lets in again.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.empty = false, nil
}
