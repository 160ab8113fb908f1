package samplecachetest

import (
	"context"
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// comeAndGo checks W18: sessions are opened and closed in any order, and the last one leaves the
// cache as it is for the next.
func comeAndGo(k *kit) {
	p := k.create(samplecache.Config{Samples: 3})
	rng, b := rand.New(rand.NewPCG(3, 4)), newBook()
	var open []*samplecache.Cache
	for put := range 60 {
		for range rng.IntN(3) {
			open = append(open, p.join())
		}
		if len(open) == 0 {
			open = append(open, p.join())
		}
		rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		producer := k.producer(open[0], "gen")
		equal(k, "Next", producer.Next(), uint64(put))
		k.must(puts(k.ctx, producer, 1))
		k.must(producer.Close())
		last := open[len(open)-1]
		equal(k, "members", len(k.stats(last).Members), len(open))
		equal(k, "the generation published last", k.stats(last).Latest, uint64(put+1)/3)
		if put >= 2 {
			k.must(b.see(k.ctx, got(last.Latest(k.ctx))(k), 3))
		}
		for range rng.IntN(len(open) + 1) {
			k.must(open[0].Close())
			open = open[1:]
		}
	}
}

// closeFrees checks W18: slots, names and groups are free when their cache is closed.
func closeFrees(k *kit) {
	place := k.create(samplecache.Config{Samples: 2, Limits: everySeen})
	c, other := place.join(), place.join()
	p := k.producer(c, "gen")
	first, second := got(p.Reserve(k.ctx))(k), got(p.Reserve(k.ctx))(k)
	k.must(commit(k.ctx, first, "gen"))
	crew := k.crew()
	crew.start(func(ctx context.Context) error { return puts(ctx, k.producer(other, "other"), 1) })
	k.must(c.Close())
	k.must(crew.finish()) // in the slot that was freed
	k.refuses("Sample of a slot of a closed cache", samplecache.ErrClosed)(second.Sample().Clone())
	equal(k, "the generation published last", k.stats(other).Latest, 1)
	equal(k, "Next of the name", k.producer(other, "gen").Next(), 1)
	equal(k, "members", len(k.stats(other).Members), 1)
	c = place.join()
	_ = got(c.Group("train", 1).Epoch(k.ctx, 0))(k)
	equal(k, "groups", len(k.stats(other).Groups), 1)
	k.must(c.Close())
	equal(k, "groups, after Close of the cache", len(k.stats(other).Groups), 0)
}

// closedForAll checks W18: after Close whatever the engine is asked is ErrClosed.
func closedForAll(k *kit) {
	place := k.create(samplecache.Config{Samples: 2})
	other, m := place.join(), place.member()
	k.fill(other, k.producer(other, "other"), 1)
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
	k.fill(other, k.producer(other, "gen"), 2) // others go on
}
