package samplecachetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-tensordict/tensordict/samplecache"
)

// A traffic is how many put and read at the same time.
type traffic struct {
	config             samplecache.Config
	sessions           int // each has some of the producers and of the readers
	producers, readers int
	generations        int // that are published
}

// wholeGenerations checks W01, W02 and W03: readers check all rows of the latest generation, again
// and again, while many are published. One of them reads every generation.
func wholeGenerations(k *kit) {
	k.run(traffic{samplecache.Config{Samples: 8, Limits: everySeen}, 4, 4, 3, many(60, 1000)})
}

// publishedOnce checks W08: sessions that complete generations at the same time publish each once.
func publishedOnce(k *kit) {
	for range many(3, 30) {
		k.run(traffic{samplecache.Config{Samples: 4, Retain: 15}, 8, 8, 0, 16})
	}
}

// matrix checks W13: all of this for one and for many.
func matrix(k *kit) {
	for _, producers := range []int{1, 2, 8} {
		for _, readers := range []int{1, 2, 8} {
			k.Run(fmt.Sprintf("%d producers, %d readers", producers, readers), func(t *testing.T) {
				newKit(t, k.suite).run(traffic{samplecache.Config{Samples: 6}, 3, producers, readers, many(8, 200)})
			})
		}
	}
}

// run has producers put and readers read, and checks the generations that they see, and that all
// sessions see in the end.
func (k *kit) run(tr traffic) {
	k.Helper()
	place, crew, b := k.create(tr.config), k.crew(), newBook(tr.config.Samples)
	if tr.config.Limits == everySeen {
		b = place.audit().book
	}
	sessions := place.joins(tr.sessions)
	for i := range tr.readers {
		m := sessions[len(sessions)-1-i%len(sessions)]
		crew.start(func(ctx context.Context) error { return b.watch(ctx, m, uint64(tr.generations)) })
	}
	each := (tr.generations*tr.config.Samples-1)/tr.producers + 1
	for i := range tr.producers {
		p := sessions[i%len(sessions)].producer(fmt.Sprint("gen-", i))
		crew.start(func(ctx context.Context) error { return puts(ctx, p, each) })
	}
	crew.finish()
	latest := each * tr.producers / tr.config.Samples
	for _, m := range sessions {
		s := m.stats()
		equal(k, "the generation published last", s.Latest, uint64(latest))
		equal(k, "generations published", s.Swaps, uint64(latest))
		equal(k, "samples of the next", s.Committed, each*tr.producers%tr.config.Samples)
		for n := max(1, latest-m.Config().Retain); n <= latest; n++ {
			k.must(b.see(k.ctx, got(m.At(k.ctx, uint64(n)))(k)))
		}
	}
	n, _ := b.seen(id{})
	k.Logf("%d generations of %d were read", n, latest)
}

// watch looks at the latest generation, from the first on, until there are enough.
func (b *book) watch(ctx context.Context, m *member, until uint64) error {
	g, err := m.Wait(ctx, 0)
	if err == nil {
		err = g.Close()
	}
	for id := uint64(0); id < until && err == nil; {
		id, err = b.look(ctx, m.Cache)
	}
	return err
}
