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
	strangers list.List      // of *conn, the oldest first
	known     list.List      // of *conn, the one that has sent no command for the longest time first
	of        map[string]int // numbers of known ones, by address
	strange   map[string]int // numbers of strangers, by address
}

// A place is the place of a connection in the lists of guests. guests.mu is held to use it.
type place struct {
	at    *list.Element // nil if it is in no list
	known bool
	timer *time.Timer // ends a stranger
}

// start sets the maximum numbers. A quarter of the descriptors is left for files.
func (g *guests) start() {
	g.mostKnown, g.mostStrangers = max(1, min(maxConns, descriptors()/2)), min(maxStrangers, descriptors()/4)
	g.of, g.strange = map[string]int{}, map[string]int{}
}

// enter adds a stranger. If there are too many, the oldest one ends.
func (g *guests) enter(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.strangers.Len() >= g.mostStrangers {
		g.endOldest()
	}
	g.strange[c.address]++
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

// endOldest ends a stranger: of the oldest ones the first of the address with the most of them.
// g.mu is held.
func (g *guests) endOldest() {
	var oldest *conn
	most, looked := 0, 0
	for e := g.strangers.Front(); e != nil && looked < elders; e = e.Next() {
		c := e.Value.(*conn)
		if n := g.strange[c.address]; n > most {
			oldest, most = c, n
		}
		looked++
	}
	if oldest != nil {
		g.end(oldest)
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
// them, another one ends; drivers open another one when they need it. It reports whether there is a
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
	for g.known.Len() >= g.mostKnown {
		g.end(g.least(holds))
	}
	c.place = place{at: g.known.PushBack(c), known: true}
	g.of[c.address]++
	return true
}

// elders is how many connections are looked at to find one that ends.
const elders = 512

// least returns the connection that ends for another one. Of the ones that have sent no command for
// the longest time it is one of the address with the most connections; of these, one without a
// ticket, that is not being answered. g.mu is held.
func (g *guests) least(holds func(c *conn) bool) (least *conn) {
	most, looked := -1, 0
	for e := g.known.Front(); e != nil && looked < elders; e = e.Next() {
		c := e.Value.(*conn)
		rank := 4 * g.of[c.address]
		if !holds(c) {
			rank += 2
		}
		if !c.busy.Load() {
			rank++
		}
		if rank > most {
			least, most = c, rank
		}
		looked++
	}
	return least
}

// leave takes a connection off the lists.
func (g *guests) leave(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remove(c)
}

// remove takes a connection off its list. g.mu is held.
func (g *guests) remove(c *conn) {
	list, of := &g.strangers, g.strange
	if c.place.known {
		list, of = &g.known, g.of
	}
	if c.place.at != nil {
		list.Remove(c.place.at)
		if of[c.address]--; of[c.address] == 0 {
			delete(of, c.address)
		}
	}
	if c.place.timer != nil {
		c.place.timer.Stop()
	}
	c.place.at = nil
}
