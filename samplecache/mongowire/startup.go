package mongowire

import (
	"context"
	"slices"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// refusal returns the error of a command that only the cache may execute.
func (s *Server) refusal(r *request, why string) error {
	name, _ := r.body.First()
	return notSupported.saying("%s %s: %s: the cache publishes by itself", name, errtext.Quote(r.collection()), why)
}

func (s *Server) refuse(_ context.Context, r *request) (rope, error) {
	return rope{}, s.refusal(r, "collections are views of a cache and cannot be changed")
}

// starts reports whether generators make a collection when they start.
func (s *Server) starts(name string) bool {
	return slices.Contains([]string{s.opt.Counter, s.opt.Write + bin, s.opt.Temp + bin}, name)
}

// The commands with which generators start. They change nothing.

func (s *Server) create(ctx context.Context, r *request) (rope, error) {
	if !s.starts(r.collection()) {
		return s.refuse(ctx, r)
	}
	return success()
}

func (s *Server) createIndexes(ctx context.Context, r *request) (rope, error) {
	if !s.starts(r.collection()) {
		return s.refuse(ctx, r)
	}
	return success(bson.D{{"numIndexesBefore", 2}, {"numIndexesAfter", 2}, {"note", "all indexes already exist"}}...)
}

func (s *Server) drop(ctx context.Context, r *request) (rope, error) {
	if !s.starts(r.collection()) {
		return s.refuse(ctx, r)
	}
	return success(bson.D{{"ns", s.opt.Database + "." + r.collection()}, {"nIndexesWas", 2}}...)
}

// update accepts the $set of generators that resets the counters.
func (s *Server) update(_ context.Context, r *request) (rope, error) {
	updates, err := r.documents("updates")
	if err != nil {
		return rope{}, err
	}
	for _, u := range updates {
		query, _ := u.Get("q").Doc()
		change, _ := u.Get("u").Doc()
		id, _ := query.Get("_id").Text()
		op, _ := change.First()
		if r.collection() != s.opt.Counter || id != "started" && id != "completed" || op != "$set" {
			return rope{}, s.refusal(r, "want a $set of the counters started and completed, which changes nothing")
		}
	}
	return success(bson.D{{"n", len(updates)}, {"nModified", 0}}...)
}

func (s *Server) dropDatabase(_ context.Context, r *request) (rope, error) {
	if !s.opt.AllowDrop {
		return rope{}, s.refusal(r, "start the server with AllowDrop, or --allow-drop, to let it succeed")
	}
	return success(bson.E{"dropped", s.opt.Database})
}
