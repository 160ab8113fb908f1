package samplecachetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
)

// names checks W07: a name with its numbers belongs to one producer, until Close of the producer or
// of its cache. A second commit of a number stores nothing. Forget forgets the numbers. Producers
// without a name are independent.
func names(k *kit) {
	place := k.create(samplecache.Config{Samples: 20})
	one, other := place.join(), place.join()
	busy := func(m *member) { k.refuses("a name in use", samplecache.ErrProducerBusy)(m.Producer("gen")) }
	p := one.producer("gen")
	busy(one)
	busy(other)
	k.wants("Forget of a name in use", other.Forget(k.ctx, "gen"), samplecache.ErrProducerBusy)
	s := got(p.Reserve(k.ctx))(k)
	k.commit(s, "gen")
	k.must(s.Commit(k.ctx)) // as if the reply to the first was lost
	for range 2 {
		k.must(p.PutAt(k.ctx, 5, idOf("gen", 5).sample()))
	}
	k.must(p.Close())
	p = other.producer("gen")
	equal(k, "Window, in another session", p.Window(), samplecache.Window{Floor: 1, Above: 1 << 4})
	k.must(p.PutAt(k.ctx, 5, idOf("gen", 5).sample()))
	equal(k, "samples committed", one.stats().Committed, 2)
	busy(one)
	k.must(other.Close())
	p = one.producer("gen")
	equal(k, "Next, after Close of the cache", p.Next(), 1)
	k.must(p.Close())
	k.wants("Forget of a name that nobody had", one.Forget(k.ctx, "nobody"), samplecache.ErrProducer)
	k.must(one.Forget(k.ctx, "gen"))
	k.wants("Forget again", one.Forget(k.ctx, "gen"), samplecache.ErrProducer)
	for _, m := range append(place.joins(2), one) {
		k.puts(m.producer(""), 2)
	}
	equal(k, "producers", len(one.stats().Producers), 0)
	p = one.producer("gen")
	equal(k, "Next of a name that was forgotten", p.Next(), 0)
	k.puts(p, 4)
	equal(k, "samples committed, in the end", one.stats().Committed, 12)
}

// storedOnce checks W07 and W10: goroutines of several producers, and several of each producer,
// commit, abort, give up waiting, and put numbers again, at random. Each number that was committed
// is known to be, and is in one generation.
func storedOnce(k *kit) {
	place := k.create(samplecache.Config{Samples: 5, Limits: everySeen})
	a, known, numbers := place.audit(), map[string]samplecache.Window{}, map[string]uint64{}
	var sessions []*member
	var producers []*samplecache.Producer
	for seed := range uint64(longtests.Times(4, 40)) {
		for _, m := range sessions {
			k.must(m.Close())
		}
		crew := k.crew()
		sessions, producers = place.joins(3), nil
		for i, m := range sessions {
			p := m.producer(fmt.Sprint("gen-", i))
			equal(k, "committed numbers of "+p.Name(), p.Window(), known[p.Name()])
			producers = append(producers, p)
			for j := range 2 {
				rng := rand.New(rand.NewPCG(seed, uint64(2*i+j)))
				crew.start(func(k *kit) { k.putErratically(p, rng) })
			}
		}
		crew.finish()
		for _, p := range producers {
			known[p.Name()] = p.Window()
		}
	}
	for _, p := range producers {
		for p.Window().Above != 0 { // some lower numbers were aborted
			k.puts(p, 1)
		}
		numbers[p.Name()] = p.Next()
	}
	a.finish(numbers)
}

// putErratically puts numbers near the next one, also committed ones. Sometimes it does not wait,
// or aborts.
func (k *kit) putErratically(p *samplecache.Producer, rng *rand.Rand) {
	for range 30 {
		short, cancel := context.WithCancel(k.ctx)
		if rng.IntN(4) == 0 {
			cancel()
		}
		next := p.Next()
		s, err := p.ReserveAt(short, next+rng.Uint64N(10)-rng.Uint64N(min(next, 5)+1))
		gaveUp := short.Err() != nil && errors.Is(err, context.Canceled)
		cancel()
		switch {
		case gaveUp || errors.Is(err, samplecache.ErrCommitted) || errors.Is(err, samplecache.ErrReserved):
		case err != nil:
			k.must(fmt.Errorf("producer %q: %w", p.Name(), err))
		case rng.IntN(3) == 0:
			k.must(s.Abort())
		default:
			k.commit(s, p.Name())
		}
	}
}
