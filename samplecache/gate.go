package samplecache

import (
	"sync"
	"sync/atomic"
)

// A gate counts who is inside, and can be shut. Whoever is inside a gate is inside its parent too,
// and nobody enters a gate whose parent is shut. The zero gate is shut. Safe for concurrent use.
type gate struct {
	parent *gate // or nil
	open   atomic.Bool

	mu     sync.Mutex
	inside int
	empty  chan struct{} // closed when the last one leaves; nil unless somebody waits
}

// start opens a gate with a parent, which may be nil.
func (g *gate) start(parent *gate) {
	g.parent = parent
	g.open.Store(true)
}

// isOpen reports whether g and its parents are open.
func (g *gate) isOpen() bool { return g.open.Load() && (g.parent == nil || g.parent.isOpen()) }

// enter reports whether the gate was open; then leave must follow.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isOpen() || g.inside == 0 && g.parent != nil && !g.parent.enter() {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.inside > 0 {
		return
	}
	if g.parent != nil {
		g.parent.leave()
	}
	if g.empty != nil {
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

// shut lets nobody in any more, and returns a channel that is closed once nobody is inside. It
// reports whether the gate was open.
func (g *gate) shut() (empty <-chan struct{}, first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	first = g.open.Swap(false)
	if g.inside == 0 {
		return nobodyInside, first
	}
	if g.empty == nil {
		g.empty = make(chan struct{})
	}
	return g.empty, first
}

// ready reports whether something could be received: mostly, that a channel is closed.
func ready(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
