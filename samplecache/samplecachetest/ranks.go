package samplecachetest

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-tensordict/tensordict/samplecache"
)

// ranksAgree checks W12: the first rank that asks for an epoch fixes its generation, which is kept
// until all ranks have closed it. All bits of an epoch's number count, and eight are remembered.
func ranksAgree(k *kit) {
	place := k.create(samplecache.Config{Samples: 2})
	writer, one, other := place.join(), place.join(), place.join()
	p, b := writer.producer("gen"), newBook(2)
	writer.fill(p, 1)
	k.must(b.see(k.ctx, got(one.Group("train", 2).Epoch(k.ctx, 7))(k)))
	writer.fill(p, 9)
	late := got(other.Group("train", 2).Epoch(k.ctx, 7))(k)
	equal(k, "the generation of the second rank", late.ID(), 1)
	writer.fill(p, 15)
	k.must(b.see(k.ctx, late))
	writer.fill(p, 20)
	k.refuses("At once all ranks have closed it", samplecache.ErrGenerationGone)(one.At(k.ctx, 1))
	for i, epoch := range []uint64{0, 1 << 8, 1 << 16, 1 << 24, 1 << 31, 1 << 32, 1 << 40, 1 << 63} {
		generation := uint64(21 + i)
		writer.fill(p, generation)
		equal(k, fmt.Sprint("the generation of epoch ", epoch), one.pass("train", 2, epoch), generation)
		equal(k, fmt.Sprint("the second rank's of epoch ", epoch), other.pass("train", 2, epoch), generation)
	}
	k.refuses("an epoch that is not remembered", samplecache.ErrGenerationGone)(one.Group("train", 2).Epoch(k.ctx, 7))
}

// groupsRefused checks W12: all ranks must say the same, and there are no more of them.
func groupsRefused(k *kit) {
	place := k.create(samplecache.Config{Samples: 2})
	one, other, third := place.join(), place.join(), place.join()
	one.fill(one.producer("gen"), 1)
	one.pass("train", 2, 0)
	k.refuses("Epoch with another number of ranks", samplecache.ErrGroup)(other.Group("train", 3).Epoch(k.ctx, 0))
	other.pass("train", 2, 0)
	k.refuses("Epoch of one rank too many", samplecache.ErrGroup)(third.Group("train", 2).Epoch(k.ctx, 0))
	k.must(one.Group("train", 2).Close())
	k.must(other.Group("train", 2).Close())
	other.pass("train", 3, 0) // it begins anew
}

// groupsAtOnce checks W13: groups go their own ways, and ranks of each the same. Ranks are up to
// three epochs apart.
func groupsAtOnce(k *kit) {
	const groups = 3
	place := k.create(samplecache.Config{Samples: 3, Limits: samplecache.Limits{MaxPasses: 2}})
	writers, sessions := k.crew(), place.joins(groups)
	for i, m := range sessions {
		p := m.producer(fmt.Sprint("gen-", i))
		writers.start(func(ctx context.Context) error { return puts(ctx, p, 1<<30) })
	}
	epochs, f := uint64(many(24, 400)), &fixed{book: newBook(3)}
	for first := uint64(0); first < epochs; first += 4 {
		readers := k.crew()
		for i := range groups {
			for rank := range i + 1 {
				group, name := sessions[(i+rank)%groups].Group(fmt.Sprint("group-", i), i+1), fmt.Sprint("group ", i)
				readers.start(func(ctx context.Context) error { return f.read(ctx, group, name, first) })
			}
		}
		readers.finish()
	}
	writers.stop()
	writers.finish()
	if n, _ := f.seen(id{}); n < int(epochs)/2 {
		k.Errorf("the groups have read %d generations in %d epochs of at most 2 each", n, epochs)
	}
}

// A fixed is which generation each epoch of each group has.
type fixed struct {
	*book
	ids sync.Map
}

// read reads four epochs as one of the ranks of a group, which all get the same generations.
func (f *fixed) read(ctx context.Context, group *samplecache.Group, name string, first uint64) error {
	last := uint64(0)
	for epoch := first; epoch < first+4; epoch++ {
		g, err := group.Epoch(ctx, epoch)
		if err != nil {
			return err
		}
		name := fmt.Sprint(name, ", epoch ", epoch)
		if other, _ := f.ids.LoadOrStore(name, g.ID()); other != g.ID() || g.ID() < last {
			return fmt.Errorf("%s: got generation %d after %d, and another rank %d", name, g.ID(), last, other)
		}
		last = g.ID()
		if err := f.see(ctx, g); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
