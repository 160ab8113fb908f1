package mongowire

import (
	"container/list"
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

const (
	maxReply    = 16 * mib // bytes of the documents of a reply, unless it has one alone
	maxBatch    = 1000     // documents of a reply
	maxCursors  = 64       // of a connection
	maxKept     = 16 * mib // bytes of the cursors of all connections
	maxKilled   = 10_000   // cursors of a killCursors
	cursorBytes = 512      // of a cursor besides its filter and its projection
	fieldBytes  = 128      // of a field of a projection
	looks       = 1024     // documents between two looks at the context of a find
	replyClaim  = 64 << 10 // bytes of memory that a reply takes at a time; the first ones are not counted
	pieceBytes  = 128      // memory of a piece of a reply besides its bytes
)

// A cursor says where the next getMore goes on with a find. It holds no generation, so that a
// cursor that is left open holds up nobody.
type cursor struct {
	id         int64
	conn       *conn // that has used it last
	q          *query
	generation uint64 // of its samples, or of the last publication in status; otherwise 0
	next       int    // documents of the view before it were read
	left       int    // documents left of the limit
	at         *list.Element
}

// size returns the memory of a cursor.
func (c *cursor) size() int {
	return cursorBytes + len(c.q.given) + fieldBytes*len(c.q.shows.fields)
}

// cursors are the cursors that have more documents. Safe for concurrent use.
type cursors struct {
	mu    sync.Mutex
	open  map[int64]*cursor
	bytes map[string]int // by address
	all   int            // bytes
}

// cursorsOf are the cursors of a connection, the one that was used longest ago first.
type cursorsOf struct{ list.List }

// add keeps a cursor for the next command, which may come at once, and returns its id. If its
// connection has too many, the one that was used longest ago ends; if all have too many bytes,
// cursors of the address with the most bytes end.
func (cs *cursors) add(c *cursor) (id int64) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c.conn.cursors.Len() == maxCursors {
		cs.remove(c.conn.cursors.Front().Value.(*cursor))
	}
	if c.id == 0 {
		c.id = 1 + rand.Int64N(1<<62)
	}
	c.at = c.conn.cursors.PushBack(c)
	cs.open[c.id] = c
	cs.count(c, c.size())
	for cs.all > maxKept {
		cs.shed(c)
	}
	return c.id
}

// count adds n bytes to the bytes of a cursor's address. cs.mu is held.
func (cs *cursors) count(c *cursor, n int) {
	cs.all += n
	if cs.bytes[c.conn.address] += n; cs.bytes[c.conn.address] == 0 {
		delete(cs.bytes, c.conn.address)
	}
}

// shed removes cursors of the address with the most bytes, but not the new one. cs.mu is held.
func (cs *cursors) shed(newest *cursor) {
	address, most := "", 0
	for of, n := range cs.bytes {
		if of == newest.conn.address {
			n -= newest.size()
		}
		if n > most {
			address, most = of, n
		}
	}
	for _, c := range cs.open {
		if c.conn.address == address && c != newest {
			if cs.remove(c); cs.all <= maxKept {
				return
			}
		}
	}
}

// remove takes a cursor off the lists. cs.mu is held.
func (cs *cursors) remove(c *cursor) {
	c.conn.cursors.Remove(c.at)
	delete(cs.open, c.id)
	cs.count(c, -c.size())
}

// take takes a cursor off the lists.
func (cs *cursors) take(id int64) *cursor {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.open[id]
	if c != nil {
		cs.remove(c)
	}
	return c
}

// left ends the cursors of a connection that has ended.
func (cs *cursors) left(c *conn) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for c.cursors.Len() > 0 {
		cs.remove(c.cursors.Front().Value.(*cursor))
	}
}

// next returns the reply to a find or a getMore: at most n documents, and the cursor if there are
// more.
func (s *Server) next(ctx context.Context, r *request, c *cursor, name string, n int) (rope, error) {
	var err error
	if c.q.filter == nil {
		c.q.filter, err = parseFilter(c.q.given)
	}
	var v view
	if err == nil {
		v, err = s.view(ctx, r, c)
	}
	if err != nil {
		return rope{}, err
	}
	docs, done, err := s.batch(ctx, r, c, v, n)
	if err != nil {
		return rope{}, err
	}
	id := int64(0)
	if !done && !c.q.single {
		c.conn, c.q.filter = r.conn, nil
		id = s.cursors.add(c)
	}
	return cursorReply(name, s.opt.Database+"."+c.q.collection, id, docs), nil
}

// batch returns the next documents, at most n, and whether they are the last ones. They may be
// fewer if memory is short.
func (s *Server) batch(ctx context.Context, r *request, c *cursor, v view, n int) (docs []rope, done bool, err error) {
	n = min(n, maxBatch)
	r.reply = s.replies.user(r.conn, replyClaim)
	size, seen, heap := 0, 0, 0
	for doc := range v {
		if c.left == 0 {
			break
		}
		if seen++; seen%looks == 0 {
			if seen == looks {
				var stop func()
				ctx, stop = r.conn.watch(ctx)
				defer stop()
			}
			if ctx.Err() != nil {
				return nil, false, context.Cause(ctx)
			}
		}
		if !c.q.filter.match(bson.Append(nil, doc.fields)) {
			c.next++
			continue
		}
		if len(docs) == n {
			return docs, false, nil
		}
		shown, err := c.q.shows.show(doc)
		if err != nil {
			return nil, false, err
		}
		size, heap = size+shown.size, heap+shown.heap()
		if len(docs) > 0 && size > maxReply {
			return docs, false, nil
		}
		if more := int64(heap-tiny) - r.reply.has; more > 0 && !r.reply.try(max(more, replyClaim)) {
			if len(docs) > 0 && !c.q.single {
				return docs, false, nil
			}
			if err := r.reply.take(ctx, r.reply.has+more); err != nil {
				return nil, false, err
			}
		}
		docs = append(docs, shown)
		c.next++
		c.left--
	}
	return docs, true, nil
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

// getMore returns the next documents of a cursor.
func (s *Server) getMore(ctx context.Context, r *request) (rope, error) {
	_, first := r.body.First()
	id, _ := first.Int()
	n, err := count(r.body, "batchSize")
	if err != nil {
		return rope{}, err
	}
	c := s.cursors.take(id)
	if c == nil {
		return rope{}, cursorNotFound.saying("cursor %d is not open: it was read to its end or killed, its connection has ended, an earlier getMore failed, %d cursors were opened after it, or cursors took too much memory", id, maxCursors)
	}
	reply, err := s.next(ctx, r, c, "nextBatch", n)
	if errors.Is(err, samplecache.ErrGenerationGone) {
		err = cursorNotFound.saying("cursor %d: generation %d is not kept any more: find again", id, c.generation)
	}
	return reply, err
}

// killCursors ends cursors.
func (s *Server) killCursors(_ context.Context, r *request) (rope, error) {
	v := r.body.Get("cursors")
	ids, _ := v.Doc()
	ok, n := v.Kind == bson.Array, 0
	killed, missing := bson.A{}, bson.A{}
	for _, v := range ids.All() {
		id, whole := v.Int()
		if n++; !ok || !whole || n > maxKilled {
			ok = false
			break
		}
		if s.cursors.take(id) != nil {
			killed = append(killed, id)
		} else {
			missing = append(missing, id)
		}
	}
	if !ok {
		return rope{}, badValue.saying("cursors: want an array of integers, at most %d", maxKilled)
	}
	return success(bson.D{{"cursorsKilled", killed}, {"cursorsNotFound", missing}, {"cursorsAlive", bson.A{}}, {"cursorsUnknown", bson.A{}}}...)
}
