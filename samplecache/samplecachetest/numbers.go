package samplecachetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/go-tensordict/tensordict/samplecache"
)

// numberOnce checks W07: committing a number again is a success and stores nothing.
func numberOnce(k *kit) {
	p := k.create(samplecache.Config{Samples: 20})
	first := p.join()
	producer := k.producer(first, "gen")
	s := got(producer.Reserve(k.ctx))(k)
	equal(k, "the first number", s.Number(), 0)
	k.must(s.Sample().UpdateInPlace(idOf("gen", 0).sample()))
	k.must(s.Commit(k.ctx))
	k.must(s.Commit(k.ctx)) // as after an answer that was lost
	k.wants("Abort after Commit", s.Abort(), samplecache.ErrClosed)
	_, err := s.Sample().Clone()
	k.wants("Sample after Commit", err, samplecache.ErrClosed)
	k.must(producer.PutAt(k.ctx, 5, idOf("gen", 5).sample()))
	k.must(producer.PutAt(k.ctx, 5, idOf("gen", 6).sample()))
	_, err = producer.ReserveAt(k.ctx, 0)
	k.wants("ReserveAt of a committed number", err, samplecache.ErrCommitted)
	equal(k, "samples committed", k.stats(first).Committed, 2)
	k.must(first.Close())

	again := k.producer(p.join(), "gen")
	equal(k, "Window, in another session", again.Window(), samplecache.Window{Floor: 1, Above: 1 << 4})
	equal(k, "Next, in another session", again.Next(), 1)
	for _, number := range []uint64{0, 5} {
		k.must(again.PutAt(k.ctx, number, idOf("gen", number).sample()))
	}
	c := p.join()
	equal(k, "samples committed, in the end", k.stats(c).Committed, 2)
}

// numbersOnce checks W07: however often numbers are put, and by whichever session, each is in one
// generation.
func numbersOnce(k *kit) {
	const producers, numbers = 4, 150
	p := k.create(samplecache.Config{Samples: 5, Limits: everySeen})
	a, crew := p.audit(), k.crew()
	for i := range producers {
		crew.start(func(ctx context.Context) error { return p.putAgain(ctx, fmt.Sprint("gen-", i), numbers) })
	}
	k.must(crew.finish())
	a.settle()
	for i := range producers {
		a.requireAll(fmt.Sprint("gen-", i), numbers)
	}
}

// putAgain puts all numbers of a producer, many of them several times, in several sessions.
func (p *place) putAgain(ctx context.Context, name string, numbers uint64) error {
	rng := rand.New(rand.NewPCG(numbers, uint64(len(name))))
	for next := uint64(0); next < numbers; {
		c, err := samplecache.Open(ctx, p.k.open(p.k.T, p.name, nil, samplecache.Config{}), samplecache.Options{})
		if err != nil {
			return err
		}
		if next, err = putSome(ctx, c, name, numbers, rng); err != nil {
			return errors.Join(err, c.Close())
		}
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

// putSome puts numbers of a producer around its next one. It returns that.
func putSome(ctx context.Context, c *samplecache.Cache, name string, numbers uint64, rng *rand.Rand) (uint64, error) {
	p, err := c.Producer(name)
	if err != nil {
		return 0, err
	}
	for range 60 {
		next := p.Next()
		number := min(next+rng.Uint64N(10), numbers-1)
		if number > next && rng.IntN(2) == 0 {
			number = next - rng.Uint64N(min(next, 10)+1)
		}
		if err := p.PutAt(ctx, number, idOf(name, number).sample()); err != nil {
			return next, about(err, "producer %q, number %d", name, number)
		}
	}
	return p.Next(), nil
}

// abortGivesBack checks W07: what was aborted can be reserved again.
func abortGivesBack(k *kit) {
	c := k.create(samplecache.Config{Samples: 2}).join()
	p := k.producer(c, "gen")
	first, second := got(p.Reserve(k.ctx))(k), got(p.Reserve(k.ctx))(k)
	equal(k, "the second number", second.Number(), 1)
	_, err := p.ReserveAt(k.ctx, 1)
	k.wants("ReserveAt of a number that is reserved", err, samplecache.ErrReserved)
	k.wants("Close of a producer with slots", p.Close(), samplecache.ErrReserved)
	k.must(first.Abort())
	k.wants("Abort again", first.Abort(), samplecache.ErrClosed)
	k.wants("Commit after Abort", first.Commit(k.ctx), samplecache.ErrClosed)
	_, err = first.Sample().Clone()
	k.wants("Sample after Abort", err, samplecache.ErrClosed)
	k.wants("writing to it", first.Sample().UpdateInPlace(id{}.sample()), samplecache.ErrClosed)
	equal(k, "slots reserved", k.stats(c).Reserved, 1)
	first = got(p.Reserve(k.ctx))(k)
	equal(k, "the number given back", first.Number(), 0)
	for _, s := range []*samplecache.Slot{second, first} {
		k.must(s.Sample().UpdateInPlace(idOf("gen", s.Number()).sample()))
		k.must(s.Commit(k.ctx))
	}
	k.must(newBook().see(k.ctx, got(c.Latest(k.ctx))(k), 2))
}

// numbersReach checks W07: Reserve beyond the window waits for the first number.
func numbersReach(k *kit) {
	p := k.producer(k.create(samplecache.Config{Samples: 100}).join(), "gen")
	first := got(p.Reserve(k.ctx))(k)
	k.must(puts(k.ctx, p, samplecache.WindowSize-1))
	k.waits("Reserve beyond the window", func(ctx context.Context) error {
		_, err := p.Reserve(ctx)
		return err
	})
	k.waits("PutAt beyond the window", func(ctx context.Context) error {
		return p.PutAt(ctx, samplecache.WindowSize, id{}.sample())
	})
	crew := k.crew()
	crew.start(func(ctx context.Context) error { return puts(ctx, p, 1) })
	k.must(first.Sample().UpdateInPlace(idOf("gen", 0).sample()))
	k.must(first.Commit(k.ctx))
	k.must(crew.finish())
	equal(k, "Next", p.Next(), samplecache.WindowSize+1)
}

// nameless checks W07: producers without a name do not know of each other.
func nameless(k *kit) {
	place := k.create(samplecache.Config{Samples: 8})
	crew, sessions := k.crew(), place.joins(2)
	for i := range 4 {
		p := k.producer(sessions[i%2], "")
		equal(k, "Next", p.Next(), 0)
		_, err := p.ReserveAt(k.ctx, 0)
		k.wants("ReserveAt without a name", err, samplecache.ErrProducer)
		crew.start(func(ctx context.Context) error { return puts(ctx, p, 4) })
	}
	k.must(crew.finish())
	g := got(sessions[0].Latest(k.ctx))(k)
	equal(k, "the generation published last", g.ID(), 2)
	_, err := whole(k.ctx, g, 8)
	k.must(err)
	equal(k, "producers with a name", len(k.stats(sessions[0]).Producers), 0)
	equal(k, "Next of a new one", k.producer(sessions[0], "").Next(), 0)
}

// namesBusy checks W07: a name is one's until Close, of the producer or of its cache.
func namesBusy(k *kit) {
	place := k.create(samplecache.Config{Samples: 8})
	one, other := place.join(), place.join()
	p := k.producer(one, "gen")
	for _, c := range []*samplecache.Cache{one, other} {
		_, err := c.Producer("gen")
		k.wants("a name in use", err, samplecache.ErrProducerBusy)
	}
	k.must(puts(k.ctx, p, 1))
	k.must(p.Close())
	p = k.producer(other, "gen")
	equal(k, "Next, in another session", p.Next(), 1)
	_, err := one.Producer("gen")
	k.wants("a name in use by another session", err, samplecache.ErrProducerBusy)
	k.must(other.Close())
	equal(k, "Next, after Close of the cache", k.producer(one, "gen").Next(), 1)
	for _, name := range []string{strings.Repeat("x", 65), "a\xff"} {
		_, err := one.Producer(name)
		k.wants("a name that cannot be", err, samplecache.ErrProducer)
	}
	k.must(k.producer(one, strings.Repeat("é", 32)).Close())
}

// namesForgotten checks W07: Forget lets go of numbers.
func namesForgotten(k *kit) {
	place := k.create(samplecache.Config{Samples: 3})
	one, other := place.join(), place.join()
	p := k.producer(one, "gen")
	k.must(puts(k.ctx, p, 5))
	k.wants("Forget of a name in use", other.Forget(k.ctx, "gen"), samplecache.ErrProducerBusy)
	k.must(p.Close())
	k.wants("Forget of a name that nobody had", other.Forget(k.ctx, "nobody"), samplecache.ErrProducer)
	k.must(other.Forget(k.ctx, "gen"))
	k.wants("Forget again", other.Forget(k.ctx, "gen"), samplecache.ErrProducer)
	equal(k, "producers", len(k.stats(one).Producers), 0)
	p = k.producer(other, "gen")
	equal(k, "Next", p.Next(), 0)
	k.must(puts(k.ctx, p, 4))
	equal(k, "the generation published last", k.stats(one).Latest, 3)
}
