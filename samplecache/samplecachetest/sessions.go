package samplecachetest

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// comeAndGo checks W18: sessions are opened and closed in any order, and the last one leaves the
// cache as it is for the next.
func comeAndGo(k *kit) {
	place := k.create(samplecache.Config{Samples: 3})
	rng, b := rand.New(rand.NewPCG(3, 4)), newBook(3)
	var open []*member
	for number := range uint64(many(40, 1000)) {
		open = append(open, place.joins(rng.IntN(3))...)
		if len(open) == 0 {
			open = place.joins(1)
		}
		rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		p := open[0].producer("gen")
		equal(k, "Next", p.Next(), number)
		k.must(puts(k.ctx, p, 1))
		k.must(p.Close())
		last := open[len(open)-1]
		equal(k, "members", len(last.stats().Members), len(open))
		equal(k, "the generation published last", last.stats().Latest, (number+1)/3)
		if number >= 2 {
			k.must(b.see(k.ctx, last.latest()))
		}
		for range rng.IntN(len(open) + 1) {
			k.must(open[0].Close())
			open = open[1:]
		}
	}
}

// closedForAll checks W18: after Close whatever the engine is asked is ErrClosed.
func closedForAll(k *kit) {
	place := k.create(samplecache.Config{Samples: 2})
	other, m := place.join(), place.join()
	other.fill(other.producer("other"), 1)
	s := m.session
	claim, seat := got(s.Claim(k.ctx, "gen"))(k), got(s.Enter(k.ctx, "train", 1))(k)
	k.must(m.Close())
	k.refuses("Latest", samplecache.ErrClosed)(s.Latest(k.ctx))
	k.refuses("Stats", samplecache.ErrClosed)(s.Stats(k.ctx))
	k.refuses("Claim", samplecache.ErrClosed)(s.Claim(k.ctx, "new"))
	k.refuses("Enter", samplecache.ErrClosed)(s.Enter(k.ctx, "new", 1))
	k.refuses("Open", samplecache.ErrClosed)(s.Open(k.ctx, 1))
	k.refuses("Reserve", samplecache.ErrClosed)(claim.Reserve(k.ctx, 0))
	k.refuses("Begin", samplecache.ErrClosed)(seat.Begin(k.ctx, 0, engine.Want{}))
	k.wants("Forget", s.Forget(k.ctx, "other"), samplecache.ErrClosed)
	k.wants("Close again", s.Close(), samplecache.ErrClosed)
	other.fill(other.producer("gen"), 2) // others go on
}

// closeFrees checks W18: what a session holds is free when it is closed.
func closeFrees(k *kit) {
	h := k.holding()
	m := h.place.join()
	_ = got(m.takeAll(k.ctx))(k)
	k.must(m.Close())
	h.freed()
	s := h.writer.stats()
	equal(k, "members", len(s.Members), 2)
	equal(k, "groups", len(s.Groups), 1)
}

// A holding is a cache of which one session holds all that others need.
type holding struct {
	k      *kit
	place  *place
	audit  *auditor
	writer *member
	p      *samplecache.Producer
}

// heldName is the name of the producer and of the group that the session holds.
const heldName = "held"

// holding makes the cache, in which one generation is published.
func (k *kit) holding() *holding {
	k.Helper()
	place := k.create(samplecache.Config{Samples: 2, Retain: -1, MaxHeld: -1, Limits: everySeen})
	h := &holding{k: k, place: place, audit: place.audit(), writer: place.join()}
	h.p = h.writer.producer("gen")
	k.must(puts(k.ctx, h.p, 2))
	return h
}

// A taken is what a session holds.
type taken struct {
	slots      []*samplecache.Slot
	generation *samplecache.Generation
}

// takeAll takes the name, all slots, the latest generation, and the one seat of a group.
func (m *member) takeAll(ctx context.Context) (t taken, err error) {
	p, err := m.Producer(heldName)
	for i := 0; i < m.Config().Samples && err == nil; i++ {
		var s *samplecache.Slot
		if s, err = p.Reserve(ctx); err == nil {
			t.slots, err = append(t.slots, s), write(s, heldName)
		}
	}
	if err == nil {
		t.generation, err = m.Group(heldName, 1).Epoch(ctx, 0)
	}
	return t, err
}

// freed fails the test unless all that was held is free within the lease.
func (h *holding) freed() {
	k, began := h.k, time.Now()
	k.Helper()
	k.must(puts(k.ctx, h.p, 6)) // while generation 1 is held there is room for one more
	p := got(h.writer.claim(heldName))(k)
	equal(k, "Next of the name", p.Next(), 0)
	k.must(p.Close())
	h.writer.pass(heldName, 1, 0)
	k.must(h.writer.Group(heldName, 1).Close())
	k.soon(began, h.writer.within(), "until all was free it")
}
