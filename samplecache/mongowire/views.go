package mongowire

import (
	"context"
	"iter"
	"slices"

	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// bin follows the names of the collections that hold samples.
const bin = ".bin"

// A view yields the documents of a collection that can match a query, in its order, from the next
// one of a cursor on.
type view iter.Seq[document]

// A document is a document of a view.
type document struct {
	fields bson.D
	chunk  func(r *rope) error // adds the field chunk, or nil
}

// view returns the view of a collection for the next documents of a cursor. A collection that does
// not exist is empty.
func (s *Server) view(ctx context.Context, r *request, c *cursor) (view, error) {
	switch c.q.collection {
	case s.opt.Counter:
		started, completed, err := s.counters()
		return listed(c, counter("completed", completed), counter("started", started)), err
	case "status":
		err := s.refresh()
		return listed(c, s.status.all(c)...), err
	case s.opt.Read + bin:
		return s.readView(ctx, r, c)
	}
	return listed(c), nil
}

// listed returns the view of documents that are sorted by _id.
func listed(c *cursor, docs ...bson.D) view {
	if c.q.descending {
		slices.Reverse(docs)
	}
	return func(yield func(document) bool) {
		for _, d := range docs[min(c.next, len(docs)):] {
			if !yield(document{fields: d}) {
				return
			}
		}
	}
}

func counter(id string, value int) bson.D {
	return bson.D{{"_id", id}, {"sequence_value", value}}
}

// counters returns the values of the counters. completed is below Samples, so that no client tries
// to publish.
func (s *Server) counters() (started, completed int, err error) {
	if st := s.store.Load(); st != nil {
		stats, err := st.cache.Stats()
		if err != nil {
			return 0, 0, err
		}
		s.status.note(stats)
		completed = stats.Committed
	}
	completed = min(completed, s.opt.Samples-1)
	return completed + s.tickets.count(), completed, nil
}

// listCollections lists the collections.
func (s *Server) listCollections(_ context.Context, r *request) (rope, error) {
	given, err := r.object("filter")
	if err != nil {
		return rope{}, err
	}
	f, err := parseFilter(given)
	if err != nil {
		return rope{}, err
	}
	var found []rope
	for _, name := range []string{s.opt.Counter, s.opt.Write + bin, s.opt.Read + bin, "status"} {
		d := bson.D{{"name", name}, {"type", "collection"}}
		if f.match(bson.Append(nil, d)) {
			found = append(found, whole(d))
		}
	}
	return cursorReply("firstBatch", s.opt.Database+".$cmd.listCollections", 0, found), nil
}

// collStats returns the size of a collection.
func (s *Server) collStats(_ context.Context, r *request) (rope, error) {
	name := r.collection()
	count, size := 0, int64(0)
	if st := s.store.Load(); st != nil {
		stats, err := st.cache.Stats()
		if err != nil {
			return rope{}, err
		}
		docs, bytes := st.documents()
		switch {
		case name == s.opt.Write+bin:
			count, size = stats.Committed*docs, int64(stats.Committed)*bytes
		case name == s.opt.Read+bin && stats.Latest > 0:
			count, size = stats.Samples*docs, int64(stats.Samples)*bytes
		}
	}
	return success(bson.D{{"ns", s.opt.Database + "." + name}, {"count", count}, {"size", size}, {"storageSize", size}, {"nindexes", 2}}...)
}

// documents returns the number of documents of a sample, and their bytes.
func (st *store) documents() (n int, bytes int64) {
	for _, l := range st.leaves {
		bytes += int64(l.layout.Size())
	}
	return len(st.pages), bytes
}
