package samplecachetest

import (
	"errors"
	"slices"
	"sync"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
)

// A book records what was seen of each generation. Safe for concurrent use.
type book struct {
	samples int // samples of a generation
	mu      sync.Mutex
	rows    map[uint64][]id // by generation
	where   map[id]uint64   // the generation
	last    uint64          // the latest generation that was opened
}

func newBook(samples int) *book {
	return &book{samples: samples, rows: map[uint64][]id{}, where: map[id]uint64{}}
}

// seen returns the number of generations that were seen.
func (b *book) seen() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.rows)
}

// opened records that a generation was opened, and returns the latest generation that was.
func (b *book) opened(generation uint64) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = max(b.last, generation)
	return b.last
}

// enter records the samples of a generation. The test fails if another reader saw other samples, or
// if a sample was seen in another generation, or twice in this one.
func (b *book) enter(k *kit, generation uint64, rows []id) {
	k.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.rows[generation]; ok {
		if !slices.Equal(rows, known) {
			k.fatalf("generation %d: got samples %x, and others %x", generation, rows, known)
		}
		return
	}
	for _, i := range rows {
		if other, ok := b.where[i]; ok {
			k.fatalf("sample %#x is in generation %d and in generation %d", i, other, generation)
		}
		b.where[i] = generation
	}
	b.rows[generation] = rows
}

// watch waits for the first generation, and then reads the latest one again and again, until its
// number is until or more. The test fails if it is ever older than one that was seen before.
func (b *book) watch(k *kit, m *member, until uint64) {
	k.must(got(m.Wait(k.ctx, 0))(k).Close())
	for latest := uint64(0); latest < until; {
		least := b.opened(0)
		g, err := m.Latest(k.ctx)
		if err != nil {
			k.fatalf("the latest generation, after %d was seen: %v", least, err)
		}
		if latest = g.ID(); latest < least {
			k.fatalf("the latest generation: got %d after %d was seen", latest, least)
		}
		b.see(k, g)
	}
}

// see reads a generation, checks it, records it, and closes it.
func (b *book) see(k *kit, g *samplecache.Generation) {
	k.Helper()
	b.opened(g.ID())
	b.enter(k, g.ID(), b.read(k, g))
	k.must(g.Close())
}

// read returns all samples of a generation. Copies, views and Info must agree.
func (b *book) read(k *kit, g *samplecache.Generation) []id {
	k.Helper()
	equal(k, "samples of a generation", g.Len(), b.samples)
	td := got(g.Fetch(k.ctx, to(b.samples), nil))(k)
	k.same("views", k.views(g, 0, b.samples), td)
	ids := k.read(td)
	for row, i := range ids {
		info := got(g.Info(row))(k)
		if idOf(info.Producer, info.Number) != i || info.Time.IsZero() || len(info.Sums) != 3 {
			k.fatalf("generation %d: row %d: got %+v, want sample %#x", g.ID(), row, info, i)
		}
	}
	return ids
}

// views returns views of rows, or copies if the engine does not have them in memory.
func (k *kit) views(g *samplecache.Generation, start, stop int) *tdict.TensorDict {
	k.Helper()
	td, err := g.Slice(start, stop)
	if errors.Is(err, errors.ErrUnsupported) {
		td, err = g.Fetch(k.ctx, to(stop)[start:], nil)
	}
	return got(td, err)(k)
}

// same ends the test unless td equals want.
func (k *kit) same(what string, td, want *tdict.TensorDict) {
	k.Helper()
	if text := got(td.Diff(want))(k); text != "" {
		k.fatalf("%s differ: got (and other, want) %s", what, text)
	}
}

// to returns the numbers 0 to n-1.
func to(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// everySeen are limits under which the auditor reads each generation exactly once.
var everySeen = samplecache.Limits{MinPasses: 1, MaxPasses: 1}

// An auditor reads every generation of a cache whose limits are everySeen.
type auditor struct {
	*book
	*member
	crew *crew
}

// audit starts an auditor. No other group has been entered, and no generation published.
func (p *place) audit() *auditor {
	m := p.join()
	a := &auditor{newBook(m.Config().Samples), m, p.k.crew()}
	a.crew.start(func(k *kit) {
		for epoch := uint64(0); ; epoch++ {
			g := got(m.Group("audit", 1).Epoch(k.ctx, epoch))(k)
			equal(k, "the generation that follows", g.ID(), epoch+1)
			a.see(k, g)
		}
	})
	p.k.eventually("the auditor enters its group", func() bool { return len(m.stats().Groups) == 1 })
	return a
}

// finish completes the generation that is being filled, so that all samples are published, and
// waits until they are read. numbers has the number of samples of each producer: the samples from 0
// up to that number must have been published, and no later ones.
func (a *auditor) finish(numbers map[string]uint64) {
	k := a.k
	for p := a.producer("filler"); a.stats().Committed > 0; {
		k.puts(p, 1)
	}
	latest := int(a.stats().Latest)
	k.eventually("the auditor reads all", func() bool { return a.seen() == latest || k.Failed() })
	a.crew.stop()
	a.crew.finish()
	for name, n := range numbers {
		for number := range n + 1 {
			if there := a.where[idOf(name, number)] != 0; there != (number < n) {
				k.fatalf("sample %d of producer %q: published is %v, and %d were put", number, name, there, n)
			}
		}
	}
}
