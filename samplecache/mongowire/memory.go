package mongowire

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sync"
	"time"
)

// A memory is a number of bytes that the messages, or the replies, of all clients may take. A user
// takes bytes as they come. If several users have some of their bytes and wait for the rest, none
// could go on; so a reserve is kept for one of them, the favourite. Safe for concurrent use.
type memory struct {
	most    int64 // of all users but the favourite
	part    int64 // of these, of one address
	reserve int64 // for the favourite

	mu        sync.Mutex
	used      int64            // by all users but the favourite
	of        map[string]int64 // of these, by address
	users     map[*user]bool   // that have bytes
	queue     []*user          // that wait for bytes
	favourite *user            // or nil
	turn      int              // counts favourites
	looked    time.Time        // when endSlow was last called
}

// A user is a message that is being received or answered, or a reply.
type user struct {
	memory *memory
	conn   *conn
	needs  int64 // bytes that it has at the end
	has    int64
	wants  int64         // more bytes that it waits for
	ready  chan struct{} // closed when it has them

	moving bool      // its client has to send or to take bytes now
	since  time.Time // when that began, or was last looked at
	before int64     // bytes that the connection had moved then
}

// newMemory returns a memory of n bytes. A user takes at most largest of them. One address gets at
// most half of what is not reserved.
func newMemory(n, largest int64) *memory {
	reserve := min(largest, n/2)
	return &memory{most: n - reserve, part: (n - reserve) / 2, reserve: reserve, of: map[string]int64{}, users: map[*user]bool{}}
}

// user returns a user for a connection that needs n bytes. No more are counted than one may take.
func (m *memory) user(c *conn, n int64) *user {
	return &user{memory: m, conn: c, needs: min(n, m.reserve)}
}

// moves says whether the client has to send or take bytes from now on.
func (u *user) moves(is bool) {
	u.memory.mu.Lock()
	defer u.memory.mu.Unlock()
	u.moving = is
	u.look()
}

// look begins to count what the client sends or takes anew. memory.mu is held.
func (u *user) look() { u.since, u.before = time.Now(), u.conn.moved.Load() }

// patience is how long a user waits before clients that are too slow are disconnected.
var patience = time.Second

// take waits until the user has n bytes.
func (u *user) take(ctx context.Context, n int64) error {
	m := u.memory
	m.mu.Lock()
	u.wants = min(n, m.reserve) - u.has
	if u.wants <= 0 {
		m.mu.Unlock()
		return nil
	}
	u.ready = make(chan struct{})
	m.queue = append(m.queue, u)
	m.serve()
	served := u.wants == 0
	m.mu.Unlock()
	if served {
		return nil
	}
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for {
		select {
		case <-u.ready:
			return nil
		case <-tick.C:
			if hungUp(u.conn.Conn) { // what it has sent before may not have been read yet
				u.free()
				return io.ErrUnexpectedEOF
			}
			m.endSlow()
		case <-ctx.Done():
			u.free()
			return context.Cause(ctx)
		}
	}
}

// try takes n more bytes if they are free, and reports whether they were.
func (u *user) try(n int64) bool {
	m := u.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) > 0 || u == m.favourite || !m.fits(u, n) {
		return false
	}
	m.give(u, n)
	return true
}

// free gives all bytes of the user back. u may be nil.
func (u *user) free() {
	if u == nil {
		return
	}
	m := u.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.queue, u); i >= 0 {
		m.queue = slices.Delete(m.queue, i, i+1)
	}
	if m.favourite == u {
		m.favourite = nil
	} else {
		m.give(u, -u.has)
	}
	u.has, u.wants, u.moving = 0, 0, false
	delete(m.users, u)
	m.serve()
}

// give gives a user other than the favourite n bytes. m.mu is held.
func (m *memory) give(u *user, n int64) {
	m.used += n
	if m.of[u.conn.address] += n; m.of[u.conn.address] == 0 {
		delete(m.of, u.conn.address)
	}
	u.has += n
	m.users[u] = true
}

// fits reports whether a user other than the favourite can get n bytes. m.mu is held.
func (m *memory) fits(u *user, n int64) bool {
	return m.used+n <= m.most && m.of[u.conn.address]+n <= m.part
}

// serve serves the users that wait, in order. If one of them has to wait on, and there is no
// favourite, one of them becomes the favourite. m.mu is held.
func (m *memory) serve() {
	m.queue = slices.DeleteFunc(m.queue, func(u *user) bool {
		switch {
		case u == m.favourite:
			u.has += u.wants // the reserve has room for all of it
		case m.fits(u, u.wants):
			m.give(u, u.wants)
		default:
			return false
		}
		u.wants = 0
		u.look()
		close(u.ready)
		return true
	})
	if m.favourite == nil && len(m.queue) > 0 {
		next := m.choose()
		has := next.has
		m.give(next, -has)
		next.has, m.favourite = has, next
		m.serve()
	}
}

// choose returns one of the users that wait, by three rules in turn, so that clients which are good
// at one of them do not keep out others: the one that came first, one of the address with the
// fewest bytes, and the one that lacks the fewest bytes. m.mu is held.
func (m *memory) choose() *user {
	m.turn++
	switch m.turn % 3 {
	case 1:
		return slices.MinFunc(m.queue, func(a, b *user) int { return cmp.Compare(a.needs-a.has, b.needs-b.has) })
	case 2:
		return slices.MinFunc(m.queue, func(a, b *user) int { return cmp.Compare(m.of[a.conn.address], m.of[b.conn.address]) })
	}
	return m.queue[0]
}

// endSlow disconnects the clients that have bytes and that in the last seconds have sent, or taken,
// less than slowest in each stall; the favourite, for which all wait, in the last one.
func (m *memory) endSlow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.looked) < patience/2 {
		return // for another user
	}
	m.looked = time.Now()
	for u := range m.users {
		age := time.Since(u.since)
		if !u.moving || u.wants > 0 || age < patience || u != m.favourite && age < 3*patience {
			continue
		}
		if moved := float64(u.conn.moved.Load() - u.before); moved < slowest*age.Seconds()/stall.Seconds() {
			_ = u.conn.Close()
		}
		u.look()
	}
}
