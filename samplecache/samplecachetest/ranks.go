package samplecachetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-tensordict/tensordict/samplecache"
)

// ranksAgree checks W12: the first rank that asks for an epoch fixes its generation, which is kept
// until all ranks have closed it.
func ranksAgree(k *kit) {
	place := k.create(samplecache.Config{Samples: 2})
	writer, one, other := place.join(), place.join(), place.join()
	p := k.producer(writer, "gen")
	k.fill(writer, p, 1)
	b := newBook()
	k.must(b.see(k.ctx, got(one.Group("train", 2).Epoch(k.ctx, 7))(k), 2))
	k.fill(writer, p, 9)
	late := got(other.Group("train", 2).Epoch(k.ctx, 7))(k)
	equal(k, "the generation of the second rank", late.ID(), 1)
	k.fill(writer, p, 15)
	k.must(b.see(k.ctx, late, 2))
	k.fill(writer, p, 20)
	_, err := one.At(k.ctx, 1)
	k.wants("At once all ranks have closed it", err, samplecache.ErrGenerationGone)
	for epoch := uint64(8); epoch < 20; epoch++ {
		for _, c := range []*samplecache.Cache{other, one} {
			g := got(c.Group("train", 2).Epoch(k.ctx, epoch))(k)
			equal(k, "the generation of a later epoch", g.ID(), 20)
			k.must(g.Close())
		}
	}
	_, err = one.Group("train", 2).Epoch(k.ctx, 7)
	k.wants("an epoch that is not remembered", err, samplecache.ErrGenerationGone)
}

// groupsRefused checks W12: all ranks must say the same.
func groupsRefused(k *kit) {
	place := k.create(samplecache.Config{Samples: 2})
	c, other := place.join(), place.join()
	k.fill(c, k.producer(c, "gen"), 1)
	g := got(c.Group("train", 2).Epoch(k.ctx, 0))(k)
	for _, wrong := range []*samplecache.Group{
		other.Group("train", 3), c.Group("train", 1), c.Group("none", 0), c.Group("less", -1),
		c.Group(strings.Repeat("x", 65), 1), c.Group("", 1),
	} {
		_, err := wrong.Epoch(k.ctx, 0)
		k.wants("Epoch of a group that cannot be", err, samplecache.ErrGroup)
	}
	if again := c.Group("train", 2); again != c.Group("train", 2) {
		k.Error("Group: got two memberships of one group")
	}
	k.must(g.Close())
	k.must(c.Group("train", 2).Close())
	k.must(got(other.Group("train", 3).Epoch(k.ctx, 0))(k).Close()) // it begins anew
}

// groupsAtOnce checks W13: groups go their own ways, and ranks of each the same.
func groupsAtOnce(k *kit) {
	const groups, epochs = 3, 25
	limits := samplecache.Limits{MinPasses: 1, MaxPasses: 2}
	place := k.create(samplecache.Config{Samples: 3, Limits: limits})
	readers, writers := k.crew(), k.crew()
	f := &fixed{ids: map[string]uint64{}, book: newBook()}
	for i := range groups {
		f.over[i].L = &f.mu
	}
	sessions := place.joins(3)
	for i := range groups {
		for rank := range i + 1 {
			group := sessions[(i+rank)%3].Group(fmt.Sprint("group-", i), i+1)
			readers.start(func(ctx context.Context) error { return f.read(ctx, group, i, rank, epochs) })
		}
	}
	for i, c := range sessions {
		p := k.producer(c, fmt.Sprint("gen-", i))
		writers.start(func(ctx context.Context) error { return puts(ctx, p, 1<<30) })
	}
	err := readers.finish()
	if failed := writers.stop(); err == nil {
		err = failed
	}
	k.must(err)
	_, n := f.seen()
	if n < epochs/2 {
		k.Errorf("the groups have read %d generations in %d epochs of at most 2 each", n, epochs)
	}
}

// A fixed is which generation each epoch of each group has.
type fixed struct {
	*book
	mu   sync.Mutex
	ids  map[string]uint64
	done [3][3]uint64 // epochs, by group and rank
	over [3]sync.Cond // done has changed
}

// together waits until the ranks of a group are less than eight epochs apart: no more are
// remembered.
func (f *fixed) together(ctx context.Context, which int, epoch uint64) {
	defer context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.over[which].Broadcast()
	})()
	f.mu.Lock()
	defer f.mu.Unlock()
	for slices.Min(f.done[which][:which+1])+7 < epoch && ctx.Err() == nil {
		f.over[which].Wait()
	}
}

// finished counts an epoch of a rank.
func (f *fixed) finished(which, rank int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done[which][rank]++
	f.over[which].Broadcast()
}

// read reads some epochs as one of the ranks of a group, each with its own pace.
func (f *fixed) read(ctx context.Context, group *samplecache.Group, which, rank int, epochs uint64) error {
	last := uint64(0)
	for epoch := range epochs {
		f.together(ctx, which, epoch)
		g, err := group.Epoch(ctx, epoch)
		if err != nil {
			return about(err, "group %d, epoch %d", which, epoch)
		}
		if g.ID() < last {
			return fmt.Errorf("group %d, epoch %d: got generation %d after %d", which, epoch, g.ID(), last)
		}
		last = g.ID()
		if err := f.agree(fmt.Sprint("group ", which, ", epoch ", epoch), last); err != nil {
			return err
		}
		if err := f.see(ctx, g, 3); err != nil {
			return about(err, "group %d, epoch %d", which, epoch)
		}
		f.finished(which, rank)
	}
	return group.Close()
}

// agree returns an error if another rank got another generation.
func (f *fixed) agree(epoch string, generation uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other, ok := f.ids[epoch]; ok && other != generation {
		return fmt.Errorf("%s: got generation %d, and another rank %d", epoch, generation, other)
	}
	f.ids[epoch] = generation
	return nil
}
