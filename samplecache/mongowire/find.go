package mongowire

import (
	"bytes"
	"context"
	"math"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// A query is the options of a find.
type query struct {
	collection string
	given      bson.Doc // the filter; a cursor keeps it, and reads it again
	filter     filter   // nil in a cursor
	shows      projection
	descending bool
	limit      int // documents; math.MaxInt without a limit
	batch      int // documents of the first batch
	single     bool
}

// query reads a find.
func (r *request) query() (*query, error) {
	q := &query{collection: r.collection(), single: r.body.Get("singleBatch").True()}
	given, err := r.object("filter")
	if err == nil {
		q.filter, err = parseFilter(given)
	}
	if err == nil {
		q.given = bytes.Clone(given) // it is kept longer than the message
		q.shows, err = r.projection()
	}
	if err == nil {
		q.descending, err = r.descending()
	}
	if err == nil {
		q.limit, err = count(r.body, "limit")
	}
	if err == nil {
		q.batch, err = count(r.body, "batchSize")
	}
	if _, reads := q.filter.about("chunk"); reads {
		err = badValue.saying("a condition on the field chunk is not supported")
	}
	return q, err
}

// about returns the first condition on a field.
func (f filter) about(field string) (condition, bool) {
	for _, c := range f {
		if c.field == field {
			return c, true
		}
	}
	return condition{}, false
}

// count returns an option that is a number of documents: math.MaxInt if it is 0 or missing.
func count(doc bson.Doc, name string) (int, error) {
	v := doc.Get(name)
	n, ok := v.Int()
	switch {
	case v.Kind == 0 || ok && n == 0:
		return math.MaxInt, nil
	case !ok || n < 0 || n > math.MaxInt32:
		return 0, badValue.saying("%s: want an integer from 0 to 2147483647", name)
	}
	return int(n), nil
}

// descending reads the option sort: by id or _id, which are the same order.
func (r *request) descending() (bool, error) {
	doc, err := r.object("sort")
	if err != nil || doc.Len() == 0 {
		return false, err
	}
	field, v := doc.First()
	n, ok := v.Int()
	if doc.Len() > 1 || field != "id" && field != "_id" || !ok || n != 1 && n != -1 {
		return false, badValue.saying("sort: want id or _id, 1 or -1")
	}
	return n < 0, nil
}

// maxField is the maximum number of bytes of a field of a projection.
const maxField = 64

// A projection selects the fields of documents.
type projection struct {
	fields map[string]bool
	only   bool // show only these fields, and _id; otherwise all but these
	noID   bool
}

// projection reads a projection: fields that are all shown, or all hidden.
func (r *request) projection() (p projection, err error) {
	doc, err := r.object("projection")
	if err != nil {
		return p, err
	}
	p.fields = map[string]bool{}
	n := 0
	for field, v := range doc.All() {
		if n++; n > maxFields {
			return p, badValue.saying("projection: got more than %d fields", maxFields)
		}
		if len(field) > maxField {
			return p, badValue.saying("projection: got a field of %d bytes, want at most %d", len(field), maxField)
		}
		if v.Kind == bson.Object || v.Kind == bson.Array || v.Kind == bson.String {
			return p, badValue.saying("projection: %s: want 0 or 1", errtext.Quote(field))
		}
		if field == "_id" {
			p.noID = !v.True()
			p.only = p.only || v.True() && doc.Len() == 1
			continue
		}
		if len(p.fields) > 0 && p.only != v.True() {
			return p, badValue.saying("projection: want fields that are all 0 or all 1")
		}
		p.fields[field], p.only = true, v.True()
	}
	return p, nil
}

// has reports whether a field is shown.
func (p projection) has(field string) bool {
	if field == "_id" {
		return !p.noID
	}
	return p.fields[field] == p.only
}

// show returns a document with the selected fields.
func (p projection) show(doc document) (rope, error) {
	var shown rope
	var fields []byte
	for _, e := range doc.fields {
		if p.has(e.Name()) {
			fields = bson.AppendValue(fields, e.Name(), e[1])
		}
	}
	shown.add(fields)
	if doc.chunk != nil && p.has("chunk") {
		if err := doc.chunk(&shown); err != nil {
			return rope{}, err
		}
	}
	return enclosed(shown), nil
}

// find returns the first documents that a query finds, and a cursor if there are more.
func (s *Server) find(ctx context.Context, r *request) (rope, error) {
	q, err := r.query()
	if err != nil {
		return rope{}, err
	}
	return s.next(ctx, r, &cursor{conn: r.conn, q: q, left: q.limit}, "firstBatch", q.batch)
}
