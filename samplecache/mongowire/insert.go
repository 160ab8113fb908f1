package mongowire

import (
	"cmp"
	"context"

	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// insert takes documents of samples.
func (s *Server) insert(ctx context.Context, r *request) (rope, error) {
	if r.collection() != s.opt.Write+bin {
		return rope{}, s.refusal(r, "samples go to "+s.opt.Write+bin)
	}
	docs, err := r.documents("documents")
	if err != nil {
		return rope{}, err
	}
	r.spent = true // inserting.end copies the rest
	s.tickets.reply(r)
	in := inserting{s: s, by: r.owner(), tickets: map[int64]*ticket{}}
	defer in.end()
	ordered := r.body.Get("ordered").Kind == 0 || r.body.Get("ordered").True()
	var failed bson.A
	n := 0
	for i, doc := range docs {
		err := in.put(ctx, doc)
		if err == nil {
			n++
			continue
		}
		e := coded(err)
		failed = append(failed, bson.D{{"index", i}, {"code", e.code}, {"errmsg", e.text}})
		if ordered || len(failed) == maxFailures {
			break
		}
	}
	if failed == nil {
		return success(bson.E{"n", n})
	}
	return success(bson.E{"n", n}, bson.E{"writeErrors", failed})
}

// maxFailures is the maximum number of errors in a reply.
const maxFailures = 100

// inserting is an insert that is being answered.
type inserting struct {
	s       *Server
	by      string
	tickets map[int64]*ticket // that it uses
}

// put takes a document. The last document of a sample commits it. After an error the ticket is
// given back.
func (in *inserting) put(ctx context.Context, doc bson.Doc) error {
	p, err := parsePart(doc)
	t := in.tickets[p.id]
	if t == nil {
		var unusable error
		if t, unusable = in.s.tickets.use(p.id, in.by); unusable != nil {
			return cmp.Or(err, unusable)
		}
		in.tickets[p.id] = t
	}
	if err == nil {
		err = t.sample.add(p, t.room)
	}
	if err == nil && p.last {
		err = in.s.commit(ctx, t)
	}
	if err != nil || p.last {
		delete(in.tickets, p.id)
		in.s.tickets.done(t, true)
	}
	return err
}

// end keeps the documents of samples that are not complete.
func (in *inserting) end() {
	for _, t := range in.tickets {
		t.sample.keep()
		in.s.tickets.done(t, false)
	}
}
