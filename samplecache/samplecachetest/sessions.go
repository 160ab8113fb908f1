package samplecachetest

import (
	"math/rand/v2"
	"time"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// comeAndGo checks W18: sessions are opened and closed in any order, and the last session leaves
// the cache unchanged for the next one.
func comeAndGo(k *kit) {
	place := k.create(samplecache.Config{Samples: 3})
	rng, b := rand.New(rand.NewPCG(3, 4)), newBook(3)
	var open []*member
	for number := range uint64(longtests.Times(40, 1000)) {
		open = append(open, place.joins(1+rng.IntN(2))...)
		rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		p, last := open[0].producer("gen"), open[len(open)-1]
		equal(k, "Next", p.Next(), number)
		k.puts(p, 1)
		k.must(p.Close())
		s := last.stats()
		equal(k, "members", len(s.Members), len(open))
		equal(k, "the generation published last", s.Latest, (number+1)/3)
		if number >= 2 {
			b.see(k, last.latest())
		}
		for range rng.IntN(len(open) + 1) {
			k.must(open[0].Close())
			open = open[1:]
		}
	}
}

// closeFrees checks W18: Close frees everything that a session holds, and methods return ErrClosed
// afterwards.
func closeFrees(k *kit) {
	h := k.holding()
	m := h.place.join()
	s := m.session
	claim := got(unblocked(k, func() (engine.Claim, error) { return s.Claim(k.ctx, "gone") }))(k)
	seat := got(unblocked(k, func() (engine.Seat, error) { return s.Enter(k.ctx, "gone", 1) }))(k)
	m.takeAll()
	crew := k.crew()
	crew.start(func(k *kit) { k.puts(h.p, 1) })
	time.Sleep(k.shortWait) // it waits by now
	k.must(m.Close())
	crew.finish()
	k.must(h.writer.producer(heldName).Close())
	h.freed()
	stats := h.writer.stats()
	equal(k, "members", len(stats.Members), 2)
	equal(k, "groups", len(stats.Groups), 1)
	k.refuses("Latest", samplecache.ErrClosed)(s.Latest(k.ctx))
	k.refuses("Stats", samplecache.ErrClosed)(s.Stats(k.ctx))
	k.refuses("Claim", samplecache.ErrClosed)(s.Claim(k.ctx, "new"))
	k.refuses("Enter", samplecache.ErrClosed)(s.Enter(k.ctx, "new", 1))
	k.refuses("Open", samplecache.ErrClosed)(s.Open(k.ctx, 1))
	k.refuses("Reserve", samplecache.ErrClosed)(claim.Reserve(k.ctx, 0))
	k.refuses("Begin", samplecache.ErrClosed)(seat.Begin(k.ctx, 0, engine.Want{}))
	k.wants("Forget", s.Forget(k.ctx, "gen"), samplecache.ErrClosed)
	k.wants("Close again", s.Close(), samplecache.ErrClosed)
}

// A holding is a cache in which one session holds everything that others need.
type holding struct {
	place  *place
	audit  *auditor
	writer *member
	p      *samplecache.Producer
}

// heldName is the name of the producer and of the group that the session has.
const heldName = "held"

// holding makes the cache, and publishes one generation.
func (k *kit) holding() *holding {
	place := k.create(samplecache.Config{Samples: 2, Retain: -1, MaxHeld: -1, Limits: everySeen})
	h := &holding{place: place, audit: place.audit(), writer: place.join()}
	h.p = h.writer.producer("gen")
	k.puts(h.p, 2)
	return h
}

// takeAll takes the name, all slots, the latest generation, and the only seat of the group.
func (m *member) takeAll() (slots []*samplecache.Slot, g *samplecache.Generation) {
	k := m.k
	p := m.producer(heldName)
	for range m.Config().Samples {
		s := got(p.Reserve(k.ctx))(k)
		k.write(s, heldName)
		slots = append(slots, s)
	}
	return slots, m.epoch(heldName, 1, 0)
}

// freed fails the test unless everything becomes free within the lease.
func (h *holding) freed() {
	k, began := h.writer.k, time.Now()
	k.puts(h.p, 6) // while generation 1 is held there is room for one more
	k.must(h.writer.claim(heldName).Close())
	h.writer.pass(heldName, 1, 0)
	k.must(h.writer.Group(heldName, 1).Close())
	k.soon(began, h.writer.within(), "freeing all")
}
