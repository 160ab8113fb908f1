package mongowire

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// tickets are the numbers that are out. Safe for concurrent use.
type tickets struct {
	room    budget // for the documents of samples
	numbers budget // below Samples
	lease   time.Duration

	mu       sync.Mutex
	out      map[int]*ticket
	lowest   int               // all numbers below are out
	owners   map[string]*owner // of tickets that are out
	replies  int               // to inserts, not written yet
	draining chan struct{}     // closed when out and replies are empty; nil before Shutdown
}

// A ticket is the right to put a sample.
type ticket struct {
	number int
	owner  *owner
	room   int64             // bytes for its documents
	slot   *samplecache.Slot // nil if there is no cache yet
	sample gather
	timer  *time.Timer // ends the lease
	used   bool        // by an insert
	dead   bool        // to be given back when the insert ends
}

// An owner is a session of a driver, or a connection without one, that has tickets.
type owner struct {
	name    string
	tickets map[*ticket]bool
	conns   map[*conn]bool // each has the owner in conn.owners
}

func (ts *tickets) start(opt Options) {
	ts.room.most, ts.numbers.most, ts.lease = opt.Inflight/2, int64(opt.Samples), opt.Lease
	ts.out, ts.owners = map[int]*ticket{}, map[string]*owner{}
}

// draw waits for room and gives out a ticket. The wait ends with ctx, or when the client has gone.
func (s *Server) draw(ctx context.Context, c *conn, by string) (number int, err error) {
	ctx, stop := c.watch(ctx)
	defer stop()
	t := &ticket{}
	if err = s.tickets.take(ctx, t, s.need()); err != nil {
		return 0, err
	}
	if st := s.store.Load(); st != nil {
		t.slot, err = st.producer.Reserve(ctx)
	}
	if err == nil {
		err = s.tickets.add(t, c, by)
	}
	if err != nil {
		s.tickets.release(t)
	}
	return t.number, err
}

// take waits for the number and the room of a ticket.
func (ts *tickets) take(ctx context.Context, t *ticket, need int64) error {
	_, err := ts.numbers.take(ctx, 1)
	if err != nil {
		return err
	}
	if t.room, err = ts.room.take(ctx, need); err != nil {
		ts.numbers.give(1)
	}
	return err
}

// need returns the maximum number of bytes of the documents of a sample: all bytes of room if there
// is no schema yet.
func (s *Server) need() int64 {
	if st := s.store.Load(); st != nil {
		return st.need
	}
	return s.tickets.room.most
}

// add gives out a ticket, with the lowest number that is not out.
func (ts *tickets) add(t *ticket, c *conn, by string) error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.draining != nil {
		return ErrServerClosed
	}
	for ts.out[ts.lowest] != nil {
		ts.lowest++
	}
	t.number = ts.lowest
	ts.out[t.number] = t
	o := ts.owners[by]
	if o == nil {
		o = &owner{by, map[*ticket]bool{}, map[*conn]bool{}}
		ts.owners[by] = o
	}
	t.owner = o
	o.tickets[t] = true
	o.join(c)
	t.timer = time.AfterFunc(ts.lease, func() { ts.expire(t) })
	return nil
}

// seen notes that an owner has sent a command over a connection.
func (ts *tickets) seen(c *conn, by string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if o := ts.owners[by]; o != nil {
		o.join(c)
	}
}

// join notes that a connection is the owner's. tickets.mu is held.
func (o *owner) join(c *conn) {
	o.conns[c] = true
	if c.owners == nil {
		c.owners = map[*owner]bool{}
	}
	c.owners[o] = true
}

// holds reports whether a connection has tickets.
func (ts *tickets) holds(c *conn) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return len(c.owners) > 0
}

// left gives back the tickets of owners whose last connection has ended.
func (ts *tickets) left(c *conn) {
	ts.mu.Lock()
	var gone []*ticket
	for o := range c.owners {
		if delete(o.conns, c); len(o.conns) == 0 {
			gone = slices.AppendSeq(gone, maps.Keys(o.tickets))
		}
	}
	ts.mu.Unlock()
	for _, t := range gone {
		ts.giveBack(t)
	}
}

// expire gives a ticket back when its lease ends, unless its owner is sending a message.
func (ts *tickets) expire(t *ticket) {
	ts.mu.Lock()
	sends := t.used
	for c := range t.owner.conns {
		sends = sends || c.sends.Load()
	}
	if sends {
		t.timer.Reset(ts.lease)
	}
	ts.mu.Unlock()
	if !sends {
		ts.giveBack(t)
	}
}

// use returns the ticket with a number, for an insert by its owner. Call done afterwards.
func (ts *tickets) use(number int64, by string) (*ticket, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.out[int(number)]
	switch {
	case t == nil || t.dead:
		return nil, notValid.saying("ticket %d is not out: it was never drawn, its lease of %v has ended, or its connection has", number, ts.lease)
	case t.owner.name != by:
		return nil, notValid.saying("ticket %d is another client's: use one session, or one connection, from findAndModify to insert", number)
	case t.used:
		return nil, notValid.saying("ticket %d is in use by another insert", number)
	}
	t.used = true
	return t, nil
}

// done ends the use of a ticket. If over, it gives the ticket back.
func (ts *tickets) done(t *ticket, over bool) {
	ts.mu.Lock()
	t.used = false
	over = over || t.dead
	if !over {
		t.timer.Reset(ts.lease)
	}
	ts.mu.Unlock()
	if over {
		ts.giveBack(t)
	}
}

// giveBack gives a ticket back, at once or when its use ends.
func (ts *tickets) giveBack(t *ticket) {
	ts.mu.Lock()
	t.dead = true
	if t.used || ts.out[t.number] != t {
		ts.mu.Unlock()
		return
	}
	t.timer.Stop()
	delete(ts.out, t.number)
	ts.lowest = min(ts.lowest, t.number)
	o := t.owner
	if delete(o.tickets, t); len(o.tickets) == 0 {
		delete(ts.owners, o.name)
		for c := range o.conns {
			delete(c.owners, o)
		}
	}
	ts.mu.Unlock()
	ts.release(t)
	ts.mu.Lock()
	ts.drained()
	ts.mu.Unlock()
}

// reply makes drain wait until the reply to an insert is written.
func (ts *tickets) reply(r *request) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.replies++
	r.after = append(r.after, func() {
		ts.mu.Lock()
		defer ts.mu.Unlock()
		ts.replies--
		ts.drained()
	})
}

// release gives back the number and the room of a ticket.
func (ts *tickets) release(t *ticket) {
	if t.slot != nil {
		_ = t.slot.Abort() // it may be committed
	}
	t.sample = gather{}
	ts.room.give(t.room)
	ts.numbers.give(1)
}

// count returns how many tickets are out.
func (ts *tickets) count() int {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return len(ts.out)
}

// drain stops giving out tickets. It returns a channel that is closed when no tickets are out and
// all replies to inserts are written.
func (ts *tickets) drain() <-chan struct{} {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.draining == nil {
		ts.draining = make(chan struct{})
	}
	ts.drained()
	return ts.draining
}

// drained closes draining if no tickets and replies are left. ts.mu is held.
func (ts *tickets) drained() {
	if ts.draining == nil || len(ts.out)+ts.replies > 0 {
		return
	}
	select {
	case <-ts.draining:
	default:
		close(ts.draining)
	}
}

// findAndModify gives out tickets, and reads the counters. An $inc of completed changes nothing:
// the cache counts committed samples.
func (s *Server) findAndModify(ctx context.Context, r *request) (rope, error) {
	query, _ := r.body.Get("query").Doc()
	update, _ := r.body.Get("update").Doc()
	id, _ := query.Get("_id").Text()
	op, change := update.First()
	by, _ := change.Doc()
	field, amount := by.First()
	n, whole := amount.Int()
	switch {
	case r.collection() != s.opt.Counter || id != "started" && id != "completed" || query.Len() != 1:
		return rope{}, s.refusal(r, "it is for the counters started and completed")
	case op != "$inc" || update.Len() != 1 || field != "sequence_value" || by.Len() != 1 || !whole || n < 0 || n > 1:
		return rope{}, s.refusal(r, "want an $inc of sequence_value by 0 or 1")
	case r.body.Get("upsert").True():
		return rope{}, s.refusal(r, "upsert is not supported")
	case id == "started" && n == 1:
		owner, after := r.owner(), r.body.Get("new").True()
		r.forget() // the wait may be long
		number, err := s.draw(ctx, r.conn, owner)
		if after {
			number++
		}
		return modified(id, number, err)
	}
	started, completed, err := s.counters()
	if id == "started" {
		completed = started
	}
	return modified(id, completed, err)
}

// modified returns the reply to a findAndModify of a counter.
func modified(id string, value int, err error) (rope, error) {
	if err != nil {
		return rope{}, err
	}
	return success(bson.E{"lastErrorObject", bson.D{{"n", 1}, {"updatedExisting", true}}}, bson.E{"value", counter(id, value)})
}
