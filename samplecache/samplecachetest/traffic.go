package samplecachetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/go-tensordict/tensordict/samplecache"
)

// A traffic is how many put and read at the same time.
type traffic struct {
	config             samplecache.Config
	sessions           int // each has some of the producers and of the readers
	producers, readers int
	generations        int // that are published at least
}

// wholeGenerations checks W01, W02 and W03: readers verify all rows of the latest generation, again
// and again, while hundreds are published.
func wholeGenerations(k *kit) {
	n := k.run(traffic{config: samplecache.Config{Samples: 8}, sessions: 4, producers: 4, readers: 3, generations: 200})
	k.Logf("%d different generations were read", n)
}

// matrix checks W13: the same for one and for many.
func matrix(k *kit) {
	for _, producers := range []int{1, 2, 8} {
		for _, readers := range []int{1, 2, 8} {
			k.Run(fmt.Sprintf("%d producers, %d readers", producers, readers), func(t *testing.T) {
				newKit(t, k.suite).run(traffic{samplecache.Config{Samples: 6}, 3, producers, readers, 20})
			})
		}
	}
}

// run has producers put and readers read, and checks the generations that they see. It returns how
// many they have seen.
func (k *kit) run(tr traffic) (seen int) {
	k.Helper()
	p := k.create(tr.config)
	sessions := p.joins(tr.sessions)
	crew, w := k.crew(), &watch{book: newBook(), samples: tr.config.Samples, until: uint64(tr.generations)}
	for i := range tr.readers {
		c := sessions[len(sessions)-1-i%len(sessions)]
		crew.start(func(ctx context.Context) error { return w.keep(ctx, c) })
	}
	each := (tr.generations*tr.config.Samples-1)/tr.producers + 1
	for i := range tr.producers {
		producer := k.producer(sessions[i%len(sessions)], fmt.Sprint("gen-", i))
		crew.start(func(ctx context.Context) error { return puts(ctx, producer, each) })
	}
	k.must(crew.finish())
	equal(k, "the generation published last", k.stats(sessions[0]).Latest, uint64(each*tr.producers/tr.config.Samples))
	_, seen = w.seen()
	return seen
}

// A watch is what readers see together.
type watch struct {
	*book
	samples int
	until   uint64
	most    atomic.Uint64 // the number of the latest generation that any reader has seen
}

// keep looks at the latest generation, until there are enough.
func (w *watch) keep(ctx context.Context, c *samplecache.Cache) error {
	err := w.first(ctx, c)
	for id := uint64(0); id < w.until && err == nil; {
		id, err = w.look(ctx, c)
	}
	return err
}

// first waits for the first generation.
func (w *watch) first(ctx context.Context, c *samplecache.Cache) error {
	g, err := c.Wait(ctx, 0)
	if err != nil {
		return err
	}
	return g.Close()
}

// look looks at the latest generation once, which is not older than one that anybody saw before.
func (w *watch) look(ctx context.Context, c *samplecache.Cache) (uint64, error) {
	least := w.most.Load()
	g, err := c.Latest(ctx)
	if err != nil {
		return 0, fmt.Errorf("the latest generation, after %d was seen: %w", least, err)
	}
	if g.ID() < least {
		return 0, fmt.Errorf("the latest generation: got %d after %d was seen", g.ID(), least)
	}
	for was := least; was < g.ID() && !w.most.CompareAndSwap(was, g.ID()); {
		was = w.most.Load()
	}
	err = seeViews(ctx, g)
	if failed := w.see(ctx, g, w.samples); err == nil {
		err = failed
	}
	return g.ID(), about(err, "generation %d", g.ID())
}
