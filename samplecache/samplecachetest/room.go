package samplecachetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// publishedOnce checks W08: sessions that complete generations at the same time publish each once.
func publishedOnce(k *kit) {
	const sessions, samples, generations = 8, 4, 16 // Retain keeps all but one
	for range 3 {
		p := k.create(samplecache.Config{Samples: samples, Retain: generations - 1})
		crew, caches := k.crew(), p.joins(sessions)
		for i, c := range caches {
			producer := k.producer(c, fmt.Sprint("gen-", i))
			crew.start(func(ctx context.Context) error { return puts(ctx, producer, samples*generations/sessions) })
		}
		k.must(crew.finish())
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
	equal(k, "slots listed", len(k.stats(other).Slots), 4)
	reserve := func(ctx context.Context) error { _, err := q.Reserve(ctx); return err }
	k.waits("Reserve without room", reserve)
	k.waits("Put without room", func(ctx context.Context) error { return q.Put(ctx, idOf("other", 0).sample()) })
	equal(k, "Next, after waiting in vain", q.Next(), 0)
	crew := k.crew()
	crew.start(func(ctx context.Context) error { return puts(ctx, q, 1) })
	time.Sleep(moment) // it waits by now
	k.must(slots[2].Abort())
	k.must(crew.finish())
	ended, cancel := context.WithCancel(k.ctx)
	cancel()
	k.wants("Reserve when its context has ended", reserve(ended), context.Canceled)
	for _, s := range []*samplecache.Slot{slots[3], slots[0], slots[1]} {
		k.must(commit(k.ctx, s, "one"))
	}
	equal(k, "the generation published last", k.stats(other).Latest, 1)
	k.must(newBook().see(k.ctx, got(other.Latest(k.ctx))(k), 4))
}

// blockedAtOnce checks W11: an engine does not wait for other members.
func blockedAtOnce(k *kit) {
	place := k.create(samplecache.Config{Samples: 2, MaxHold: time.Hour, Limits: ratioed})
	m, began := place.member(), time.Now()
	seat := got(m.session.Enter(k.ctx, "train", 1))(k)
	k.refuses("Begin before there is a generation", samplecache.ErrBlocked)(seat.Begin(k.ctx, 0, engine.Want{}))
	k.fill(m.Cache, k.producer(m.Cache, "gen"), 1)
	claim, pass := got(m.session.Claim(k.ctx, ""))(k), got(seat.Begin(k.ctx, 0, engine.Want{}))(k)
	var err error
	for number := uint64(0); err == nil; number++ {
		_, err = claim.Reserve(k.ctx, number)
	}
	k.wants("Reserve beyond the limits", err, samplecache.ErrBlocked)
	for err = nil; err == nil; {
		_, err = pass.Take(k.ctx, 1)
	}
	k.wants("Take beyond the limits", err, samplecache.ErrBlocked)
	if took := time.Since(began); took > 2*time.Second {
		k.Errorf("it took %v until all was blocked", took)
	}
}

// ratioed are limits under which a group takes two rows before the third sample is put.
var ratioed = samplecache.Limits{PerInsert: 1, MinSize: 2, MinDiff: -2, MaxDiff: 3}

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
			err = commit(ctx, s, p.Name())
		}
		if err != nil {
			return err
		}
	}
	return nil
}
