package mongowire

import (
	"container/list"
	"sync"
	"time"
)

// The maximum numbers of connections that are logged in, and of strangers, if the process has
// enough descriptors.
var maxConns, maxStrangers = 4096, 4096

// loginTime is how long a connection may take to log in, or to send its first command if there is
// no password.
var loginTime = 30 * time.Second

// guests are the connections of a server. Strangers have not logged in, or have not sent a command
// if there is no password. Strangers never take a place of the others. Safe for concurrent use.
type guests struct {
	mostKnown, mostStrangers int

	mu        sync.Mutex
	strangers list.List // of *conn, the oldest first
	known     list.List // of *conn, the one that has sent no command for the longest time first
}

// A place is the place of a connection in the lists of guests. guests.mu is held to use it.
type place struct {
	at    *list.Element // nil if it is in no list
	known bool
	timer *time.Timer // ends a stranger
}

// start sets the maximum numbers. A quarter of the descriptors is left for files.
func (g *guests) start() {
	g.mostKnown, g.mostStrangers = min(maxConns, descriptors()/2), min(maxStrangers, descriptors()/4)
}

// enter adds a stranger. If there are too many, the oldest one ends.
func (g *guests) enter(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.strangers.Len() >= g.mostStrangers {
		g.endOldest()
	}
	c.place = place{at: g.strangers.PushBack(c), timer: time.AfterFunc(loginTime, func() { g.expire(c) })}
}

// expire ends a connection if it is still a stranger.
func (g *guests) expire(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.place.at != nil && !c.place.known {
		g.end(c)
	}
}

// endOldest ends the oldest stranger. g.mu is held.
func (g *guests) endOldest() {
	if first := g.strangers.Front(); first != nil {
		g.end(first.Value.(*conn))
	}
}

// end closes a connection. g.mu is held.
func (g *guests) end(c *conn) {
	g.remove(c)
	_ = c.Conn.Close()
}

// makeRoom ends the oldest stranger, so that its descriptor is free, and reports whether there was
// one.
func (g *guests) makeRoom() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.strangers.Len()
	g.endOldest()
	return n > 0
}

// use notes that a connection that is not a stranger sends a command. If there are too many of
// them, the one that has sent none for the longest time ends; drivers open another one when they
// need it. Connections that are being answered or have tickets stay. It reports whether there is a
// place.
func (g *guests) use(c *conn, holds func(c *conn) bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case c.place.at == nil:
		return false
	case c.place.known:
		g.known.MoveToBack(c.place.at)
		return true
	}
	g.remove(c)
	for e := g.known.Front(); e != nil && g.known.Len() >= g.mostKnown; {
		other := e.Value.(*conn)
		if e = e.Next(); !other.busy.Load() && !holds(other) {
			g.end(other)
		}
	}
	if g.known.Len() >= g.mostKnown {
		return false
	}
	c.place = place{at: g.known.PushBack(c), known: true}
	return true
}

// leave takes a connection off the lists.
func (g *guests) leave(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remove(c)
}

// remove takes a connection off its list. g.mu is held.
func (g *guests) remove(c *conn) {
	of := &g.strangers
	if c.place.known {
		of = &g.known
	}
	if c.place.at != nil {
		of.Remove(c.place.at)
	}
	if c.place.timer != nil {
		c.place.timer.Stop()
	}
	c.place.at = nil
}
