package samplecachetest

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/go-tensordict/tensordict/samplecache"
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

// A wait is a call that waits, and the cache that is closed meanwhile.
type wait struct {
	what string
	make func(k *kit) (c *samplecache.Cache, call func(ctx context.Context) error)
}

// ratioed are limits under which a group takes two rows before the third sample is put.
var ratioed = samplecache.Limits{PerInsert: 1, MinSize: 2, MinDiff: -2, MaxDiff: 3}

var waitings = []wait{
	{"Wait", func(k *kit) (*samplecache.Cache, func(ctx context.Context) error) {
		c := k.create(samplecache.Config{Samples: 2}).join()
		return c, func(ctx context.Context) error { _, err := c.Wait(ctx, 0); return err }
	}},
	{"Epoch", func(k *kit) (*samplecache.Cache, func(ctx context.Context) error) {
		c := k.create(samplecache.Config{Samples: 2}).join()
		return c, func(ctx context.Context) error { _, err := c.Group("train", 1).Epoch(ctx, 0); return err }
	}},
	{"Fetch", func(k *kit) (*samplecache.Cache, func(ctx context.Context) error) {
		c := k.create(samplecache.Config{Samples: 2, MaxHold: 1 << 40, Limits: ratioed}).join()
		k.fill(c, k.producer(c, "gen"), 1)
		g := got(c.Group("train", 1).Epoch(k.ctx, 0))(k)
		return c, func(ctx context.Context) error { _, err := g.Fetch(ctx, make([]int, 100), nil); return err }
	}},
	{"Reserve", func(k *kit) (*samplecache.Cache, func(ctx context.Context) error) {
		place := k.create(samplecache.Config{Samples: 1})
		_ = got(k.producer(place.join(), "other").Reserve(k.ctx))(k)
		c := place.join()
		p := k.producer(c, "gen")
		return c, func(ctx context.Context) error { _, err := p.Reserve(ctx); return err }
	}},
	{"Reserve beyond the window", func(k *kit) (*samplecache.Cache, func(ctx context.Context) error) {
		c := k.create(samplecache.Config{Samples: 100}).join()
		p := k.producer(c, "gen")
		_ = got(p.Reserve(k.ctx))(k)
		k.must(puts(k.ctx, p, samplecache.WindowSize-1))
		return c, func(ctx context.Context) error { _, err := p.Reserve(ctx); return err }
	}},
}

// closeEndsWaits checks W18: what waits returns when its cache is closed.
func closeEndsWaits(k *kit) {
	for _, w := range waitings {
		k.Run(w.what, func(t *testing.T) {
			k := newKit(t, k.test, k.open)
			c, call := w.make(k)
			ctx, cancel := context.WithTimeout(k.ctx, patience/6)
			defer cancel()
			returned := make(chan error, 1)
			go func() { returned <- call(ctx) }()
			k.waits(w.what, call) // so does the other, by now or soon
			k.must(c.Close())
			k.wants("when the cache is closed", <-returned, samplecache.ErrClosed)
		})
	}
}

// closeFrees checks W18: slots, names and groups are free when their cache is closed.
func closeFrees(k *kit) {
	place := k.create(samplecache.Config{Samples: 2, Limits: everySeen})
	c, other := place.join(), place.join()
	p := k.producer(c, "gen")
	first, second := got(p.Reserve(k.ctx))(k), got(p.Reserve(k.ctx))(k)
	k.must(first.Sample().UpdateInPlace(idOf("gen", 0).sample()))
	k.must(first.Commit(k.ctx))
	crew := k.crew()
	crew.start(func(ctx context.Context) error { return puts(ctx, k.producer(other, "other"), 1) })
	k.must(c.Close())
	k.must(crew.finish()) // in the slot that was freed
	_, err := second.Sample().Clone()
	k.wants("Sample of a slot of a closed cache", err, samplecache.ErrClosed)
	equal(k, "the generation published last", k.stats(other).Latest, 1)
	equal(k, "Next of the name", k.producer(other, "gen").Next(), 1)
	equal(k, "members", len(k.stats(other).Members), 1)
	c = place.join()
	_ = got(c.Group("train", 1).Epoch(k.ctx, 0))(k)
	equal(k, "groups", len(k.stats(other).Groups), 1)
	k.must(c.Close())
	equal(k, "groups, after Close of the cache", len(k.stats(other).Groups), 0)
}
