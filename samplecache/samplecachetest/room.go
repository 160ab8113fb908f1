package samplecachetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/samplecache"
)

// publishedOnce checks W08: sessions that complete generations at the same time publish each once.
func publishedOnce(k *kit) {
	const sessions, samples, generations = 8, 4, 17 // Retain keeps them all
	for range 3 {
		p := k.create(samplecache.Config{Samples: samples, Retain: generations - 1})
		crew := k.crew()
		var caches []*samplecache.Cache
		for i := range sessions {
			c := p.join()
			producer := k.producer(c, fmt.Sprint("gen-", i))
			share := samples * generations / sessions
			if i == 0 {
				share += samples * generations % sessions
			}
			crew.start(func(ctx context.Context) error { return puts(ctx, producer, share) })
			caches = append(caches, c)
		}
		k.must(crew.finish())
		k.requireGenerations(caches, generations, samples)
	}
}

// requireGenerations ends the test unless all sessions see the same generations, all of them whole.
func (k *kit) requireGenerations(caches []*samplecache.Cache, generations uint64, samples int) {
	k.Helper()
	b := newBook()
	for _, c := range caches {
		s := k.stats(c)
		equal(k, "the generation published last", s.Latest, generations)
		equal(k, "generations published", s.Swaps, generations)
		equal(k, "samples of the next", s.Committed, 0)
		for n := uint64(1); n <= generations; n++ {
			k.must(b.see(k.ctx, got(c.At(k.ctx, n))(k), samples))
		}
		k.must(c.Close())
	}
}

// roomFirst checks W10: each slot is one sample's, and who finds none waits.
func roomFirst(k *kit) {
	place := k.create(samplecache.Config{Samples: 4})
	one, other := place.join(), place.join()
	p, q := k.producer(one, "one"), k.producer(other, "other")
	var slots []*samplecache.Slot
	for range 4 {
		slots = append(slots, got(p.Reserve(k.ctx))(k))
	}
	equal(k, "slots reserved", k.stats(other).Reserved, 4)
	reserve := func(ctx context.Context) error { _, err := q.Reserve(ctx); return err }
	k.waits("Reserve without room", reserve)
	k.waits("Put without room", func(ctx context.Context) error { return q.Put(ctx, idOf("other", 0).sample()) })
	equal(k, "Next, after waiting in vain", q.Next(), 0)
	crew := k.crew()
	crew.start(func(ctx context.Context) error { return puts(ctx, q, 1) })
	k.must(slots[2].Abort())
	k.must(crew.finish())
	ended, cancel := context.WithCancel(k.ctx)
	cancel()
	k.wants("Reserve when its context has ended", reserve(ended), context.Canceled)
	for _, s := range []*samplecache.Slot{slots[3], slots[0], slots[1]} {
		k.must(s.Sample().UpdateInPlace(idOf("one", s.Number()).sample()))
		k.must(s.Commit(k.ctx))
	}
	equal(k, "the generation published last", k.stats(other).Latest, 1)
	k.must(newBook().see(k.ctx, got(other.Latest(k.ctx))(k), 4))
}

// nothingLost checks W10: whoever commits, aborts and gives up waiting, at random, and on several
// goroutines of one producer too, all that was committed is published.
func nothingLost(k *kit) {
	const producers = 3
	p := k.create(samplecache.Config{Samples: 5, Limits: everySeen})
	a, crew := p.audit(), k.crew()
	var all []*samplecache.Producer
	for i := range producers {
		producer := k.producer(p.join(), fmt.Sprint("gen-", i))
		all = append(all, producer)
		for j := range 2 {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			crew.start(func(ctx context.Context) error { return putErratically(ctx, producer, rng) })
		}
	}
	k.must(crew.finish())
	for _, producer := range all {
		for producer.Window().Above != 0 { // numbers were given back below it
			k.must(puts(k.ctx, producer, 1))
		}
	}
	a.settle()
	for _, producer := range all {
		a.requireAll(producer.Name(), int(producer.Next()))
	}
}

// putErratically reserves slots, commits half of them, and now and then does not wait long.
func putErratically(ctx context.Context, p *samplecache.Producer, rng *rand.Rand) error {
	for range 100 {
		short, cancel := context.WithCancel(ctx)
		if rng.IntN(4) == 0 {
			cancel()
		}
		s, err := p.Reserve(short)
		cancel()
		switch {
		case errors.Is(err, context.Canceled) && ctx.Err() == nil:
			continue
		case err != nil:
			return err
		case rng.IntN(3) == 0:
			err = s.Abort()
		default:
			if err = s.Sample().UpdateInPlace(idOf(p.Name(), s.Number()).sample()); err == nil {
				err = s.Commit(ctx)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
