package mongowire

import (
	"context"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/internal/bson"
)

const (
	maxReply   = 16 * mib // bytes of the documents of a reply, unless it has one alone
	maxCursors = 1000
	maxFilters = 4 * mib // bytes of the filters of cursors
)

// cursorLife is how long a cursor waits for a getMore.
var cursorLife = time.Minute

// cursors are the cursors that have more documents. Safe for concurrent use.
type cursors struct {
	mu      sync.Mutex
	open    map[int64]*cursor
	filters int // bytes
}

// A cursor is the rest of a find. One command at a time uses it.
type cursor struct {
	id    int64 // 0 until it is added to cursors
	ns    string
	conn  *conn
	q     *query
	next  func() (document, bool) // nil at the end
	stop  func()
	free  func()
	left  int   // documents left of the limit
	ready *rope // the next document, if it is known
	timer *time.Timer
}

func newCursor(ns string, c *conn, q *query, v view) *cursor {
	cur := &cursor{ns: ns, conn: c, q: q, left: q.limit, free: v.end}
	cur.next, cur.stop = iter.Pull(v.docs)
	return cur
}

// end ends the cursor.
func (c *cursor) end() {
	c.stop()
	if c.free != nil {
		c.free()
	}
	c.next, c.free = nil, nil
}

// batch returns the next documents, at most n. At the end, c.next is nil.
func (c *cursor) batch(n int) (docs []rope, err error) {
	size := 0
	for len(docs) < n {
		if c.ready == nil {
			err = c.advance()
		}
		if err != nil || c.ready == nil {
			c.next = nil
			return docs, err
		}
		if size += c.ready.size; size > maxReply && len(docs) > 0 {
			return docs, nil
		}
		docs, c.ready = append(docs, *c.ready), nil
	}
	if err = c.advance(); err != nil || c.ready == nil {
		c.next = nil
	}
	return docs, err
}

// advance sets ready to the next document that matches, if there is one.
func (c *cursor) advance() error {
	for c.left > 0 {
		doc, ok := c.next()
		if !ok {
			return nil
		}
		if !c.q.filter.match(bson.Append(nil, doc.fields)) {
			continue
		}
		shown, err := c.q.shows.show(doc)
		c.ready = &shown
		c.left--
		return err
	}
	return nil
}

// cursorReply returns a reply with documents.
func cursorReply(name, ns string, id int64, docs []rope) rope {
	var cur, reply rope
	cur.join(named(bson.Array, name, array(docs)))
	cur.add(bson.AppendValue(bson.AppendValue(nil, "id", id), "ns", ns))
	reply.join(named(bson.Object, "cursor", enclosed(cur)))
	reply.add(bson.AppendValue(nil, "ok", 1.0))
	return enclosed(reply)
}

// add keeps a cursor for the next command. If there are too many, it ends others.
func (cs *cursors) add(c *cursor) {
	cs.mu.Lock()
	others := cs.pick(func(*cursor) bool { return len(cs.open) >= maxCursors || cs.filters+c.q.size > maxFilters })
	if c.id == 0 {
		c.id = 1 + rand.Int64N(1<<62)
	}
	cs.open[c.id] = c
	cs.filters += c.q.size
	c.timer = time.AfterFunc(cursorLife, func() { cs.endAll(func(other *cursor) bool { return other == c }) })
	cs.mu.Unlock()
	endEach(others)
}

// remove takes a cursor off the list. cs.mu is held.
func (cs *cursors) remove(c *cursor) {
	c.timer.Stop()
	delete(cs.open, c.id)
	cs.filters -= c.q.size
}

// take takes a cursor off the list.
func (cs *cursors) take(id int64) *cursor {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.open[id]
	if c != nil {
		cs.remove(c)
	}
	return c
}

// endAll ends cursors that are not in use.
func (cs *cursors) endAll(which func(c *cursor) bool) {
	cs.mu.Lock()
	picked := cs.pick(which)
	cs.mu.Unlock()
	endEach(picked)
}

// pick takes cursors off the list. cs.mu is held.
func (cs *cursors) pick(which func(c *cursor) bool) (picked []*cursor) {
	for _, c := range cs.open {
		if which(c) {
			cs.remove(c)
			picked = append(picked, c)
		}
	}
	return picked
}

// endEach ends cursors. It holds no lock: the engine may take its time.
func endEach(all []*cursor) {
	for _, c := range all {
		c.end()
	}
}

// getMore returns the next documents of a cursor.
func (s *Server) getMore(_ context.Context, r *request) (rope, error) {
	_, first := r.body.First()
	id, _ := first.Int()
	n, err := count(r.body, "batchSize")
	if err != nil {
		return rope{}, err
	}
	c := s.cursors.take(id)
	if c == nil {
		return rope{}, cursorNotFound.saying("cursor %d is not open: it was read to its end, %v have passed, or its connection has ended", id, cursorLife)
	}
	docs, err := c.batch(n)
	if err == nil && c.next != nil {
		r.after = append(r.after, func() { s.cursors.add(c) }) // the reply lends its memory
		return cursorReply("nextBatch", c.ns, c.id, docs), nil
	}
	r.after = append(r.after, c.end)
	return cursorReply("nextBatch", c.ns, 0, docs), err
}

// killCursors ends cursors.
func (s *Server) killCursors(_ context.Context, r *request) (rope, error) {
	ids, _ := r.body.Get("cursors").Doc()
	killed, missing := bson.A{}, bson.A{}
	for _, v := range ids.All() {
		id, _ := v.Int()
		if c := s.cursors.take(id); c != nil {
			c.end()
			killed = append(killed, id)
		} else {
			missing = append(missing, id)
		}
	}
	return success(bson.D{{"cursorsKilled", killed}, {"cursorsNotFound", missing}, {"cursorsAlive", bson.A{}}, {"cursorsUnknown", bson.A{}}}...)
}
