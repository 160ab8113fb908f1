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
	k.must(commit(k.ctx, s, "gen"))
	k.must(s.Commit(k.ctx)) // as after an answer that was lost
	k.wants("Abort after Commit", s.Abort(), samplecache.ErrClosed)
	k.refuses("Sample after Commit", samplecache.ErrClosed)(s.Sample().Clone())
	k.must(producer.PutAt(k.ctx, 5, idOf("gen", 5).sample()))
	k.must(producer.PutAt(k.ctx, 5, idOf("gen", 6).sample()))
	k.refuses("ReserveAt of a committed number", samplecache.ErrCommitted)(producer.ReserveAt(k.ctx, 0))
	equal(k, "samples committed", k.stats(first).Committed, 2)
	k.must(first.Close())

	c := p.join()
	again := k.producer(c, "gen")
	equal(k, "Window, in another session", again.Window(), samplecache.Window{Floor: 1, Above: 1 << 4})
	equal(k, "Next, in another session", again.Next(), 1)
	for _, number := range []uint64{0, 5} {
		k.must(again.PutAt(k.ctx, number, idOf("gen", number).sample()))
	}
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
		m, err := p.open(ctx)
		if err != nil {
			return err
		}
		producer, err := m.Producer(name)
		for i := 0; i < 60 && err == nil; i++ {
			next = producer.Next()
			number := min(next+rng.Uint64N(10), numbers-1)
			if number > next && rng.IntN(2) == 0 {
				number = next - rng.Uint64N(min(next, 10)+1)
			}
			err = about(producer.PutAt(ctx, number, idOf(name, number).sample()), "producer %q, number %d", name, number)
		}
		if err = errors.Join(err, m.Close()); err != nil {
			return err
		}
	}
	return nil
}

// abortGivesBack checks W07: what was aborted can be reserved again.
func abortGivesBack(k *kit) {
	c := k.create(samplecache.Config{Samples: 2}).join()
	p := k.producer(c, "gen")
	first, second := got(p.Reserve(k.ctx))(k), got(p.Reserve(k.ctx))(k)
	equal(k, "the second number", second.Number(), 1)
	k.refuses("ReserveAt of a number that is reserved", samplecache.ErrReserved)(p.ReserveAt(k.ctx, 1))
	k.wants("Close of a producer with slots", p.Close(), samplecache.ErrReserved)
	k.must(first.Abort())
	k.wants("Abort again", first.Abort(), samplecache.ErrClosed)
	k.wants("Commit after Abort", first.Commit(k.ctx), samplecache.ErrClosed)
	k.refuses("Sample after Abort", samplecache.ErrClosed)(first.Sample().Clone())
	k.wants("writing to it", first.Sample().UpdateInPlace(id{}.sample()), samplecache.ErrClosed)
	equal(k, "slots reserved", k.stats(c).Reserved, 1)
	first = got(p.Reserve(k.ctx))(k)
	equal(k, "the number given back", first.Number(), 0)
	k.must(commit(k.ctx, second, "gen"))
	k.must(commit(k.ctx, first, "gen"))
	k.must(newBook().see(k.ctx, got(c.Latest(k.ctx))(k), 2))
}

// nameless checks W07: producers without a name do not know of each other.
func nameless(k *kit) {
	place := k.create(samplecache.Config{Samples: 8})
	crew, sessions := k.crew(), place.joins(2)
	for i := range 4 {
		p := k.producer(sessions[i%2], "")
		equal(k, "Next", p.Next(), 0)
		k.refuses("ReserveAt without a name", samplecache.ErrProducer)(p.ReserveAt(k.ctx, 0))
		crew.start(func(ctx context.Context) error { return puts(ctx, p, 4) })
	}
	k.must(crew.finish())
	g := got(sessions[0].Latest(k.ctx))(k)
	equal(k, "the generation published last", g.ID(), 2)
	_ = got(whole(k.ctx, g, 8))(k)
	equal(k, "producers with a name", len(k.stats(sessions[0]).Producers), 0)
	equal(k, "Next of a new one", k.producer(sessions[0], "").Next(), 0)
}

// namesBusy checks W07: a name is one's until Close, of the producer or of its cache.
func namesBusy(k *kit) {
	place := k.create(samplecache.Config{Samples: 8})
	one, other := place.join(), place.join()
	p := k.producer(one, "gen")
	for _, c := range []*samplecache.Cache{one, other} {
		k.refuses("a name in use", samplecache.ErrProducerBusy)(c.Producer("gen"))
	}
	k.must(puts(k.ctx, p, 1))
	k.must(p.Close())
	p = k.producer(other, "gen")
	equal(k, "Next, in another session", p.Next(), 1)
	k.refuses("a name in use by another session", samplecache.ErrProducerBusy)(one.Producer("gen"))
	k.must(other.Close())
	equal(k, "Next, after Close of the cache", k.producer(one, "gen").Next(), 1)
	for _, name := range []string{strings.Repeat("x", 65), "a\xff"} {
		k.refuses("a name that cannot be", samplecache.ErrProducer)(one.Producer(name))
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
