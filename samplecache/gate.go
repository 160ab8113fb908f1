package samplecache

import (
	"sync"
	"sync/atomic"
)

// A gate counts the operations inside it, and can be shut. An operation inside a gate is inside its
// parent too; no operation can enter a gate whose parent is shut. The zero gate is shut. Safe for
// concurrent use.
type gate struct {
	parent *gate // or nil
	open   atomic.Bool

	mu     sync.Mutex
	inside int
	empty  chan struct{} // closed once the gate is shut and no operation is inside
}

// start opens the gate. parent may be nil.
func (g *gate) start(parent *gate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.parent, g.empty = parent, make(chan struct{})
	g.open.Store(true)
}

// isOpen reports whether g and its parents are open.
func (g *gate) isOpen() bool { return g.open.Load() && (g.parent == nil || g.parent.isOpen()) }

// enter reports whether the gate was open. If so, the caller is inside and must call leave.
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
	if !g.open.Load() {
		close(g.empty)
	}
}

// shut shuts the gate, and reports whether it was open.
func (g *gate) shut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.open.Swap(false)
	if was && g.inside == 0 {
		close(g.empty)
	}
	return was
}

// A turn is a lock that a goroutine can wait for with a context: receiving from it locks.
type turn chan struct{}

func newTurn() turn {
	t := make(turn, 1)
	t.done()
	return t
}

// done unlocks.
func (t turn) done() { t <- struct{}{} }

// A signal wakes all goroutines that wait for it. The zero signal is ready to use. Safe for
// concurrent use.
type signal struct {
	mu     sync.Mutex
	raised chan struct{} // nil if no goroutine waits
}

// next returns a channel that the next raise closes.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.raised == nil {
		s.raised = make(chan struct{})
	}
	return s.raised
}

func (s *signal) raise() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.raised != nil {
		close(s.raised)
		s.raised = nil
	}
}

// ready receives from c if that does not block, and reports whether it did.
func ready(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
