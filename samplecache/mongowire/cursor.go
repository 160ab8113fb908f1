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
	cursorLife = time.Minute
)

// cursors are those that have more documents. Safe for concurrent use.
type cursors struct {
	mu   sync.Mutex
	open map[int64]*cursor
}

// A cursor is a find that goes on. One command at a time uses it.
type cursor struct {
	id    int64 // 0 unless it is among cursors
	ns    string
	conn  *conn
	q     *query
	next  func() (document, bool) // nil at the end
	stop  func()
	free  func()
	left  int   // of the limit
	ready *rope // the next document, which did not fit into the batch before
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

// advance finds the next document, if there is one.
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

// add keeps a cursor for the next command. If there are too many, another one ends.
func (cs *cursors) add(c *cursor) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c.id == 0 {
		c.id = 1 + rand.Int64N(1<<62)
	}
	for _, other := range cs.open {
		if len(cs.open) < maxCursors {
			break
		}
		cs.remove(other)
		other.end()
	}
	cs.open[c.id] = c
	c.timer = time.AfterFunc(cursorLife, func() { cs.endAll(func(other *cursor) bool { return other == c }) })
}

// remove takes a cursor off the list. cs.mu is held.
func (cs *cursors) remove(c *cursor) {
	c.timer.Stop()
	delete(cs.open, c.id)
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
	defer cs.mu.Unlock()
	for _, c := range cs.open {
		if which(c) {
			cs.remove(c)
			c.end()
		}
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
		return rope{}, cursorNotFound.saying("cursor %d: it was read to its end, %v have passed, or its connection has ended", id, cursorLife)
	}
	docs, err := c.batch(n)
	if err == nil && c.next != nil {
		r.after = append(r.after, func() { s.cursors.add(c) }) // it lends memory until then
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
