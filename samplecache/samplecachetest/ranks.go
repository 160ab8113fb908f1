package samplecachetest

import (
	"context"
	"errors"
	"fmt"
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
	k.refuses("At once all ranks have closed it", samplecache.ErrGenerationGone)(one.At(k.ctx, 1))
	for epoch := uint64(8); epoch < 20; epoch++ {
		for _, c := range []*samplecache.Cache{other, one} {
			equal(k, "the generation of a later epoch", k.pass(c.Group("train", 2), epoch), 20)
		}
	}
	k.refuses("an epoch that is not remembered", samplecache.ErrGenerationGone)(one.Group("train", 2).Epoch(k.ctx, 7))
}

// epochsApart checks W12: all bits of an epoch's number count.
func epochsApart(k *kit) {
	place := k.create(samplecache.Config{Samples: 1, Retain: 8})
	one, other := place.join(), place.join()
	p := k.producer(one, "gen")
	for i, epoch := range []uint64{0, 1 << 16, 1 << 24, 1 << 31, 1 << 32, 1 << 40, 1<<40 + 1<<24} {
		k.fill(one, p, uint64(i)+1)
		equal(k, fmt.Sprint("the generation of epoch ", epoch), k.pass(one.Group("train", 2), epoch), uint64(i)+1)
		equal(k, fmt.Sprint("that of the second rank in epoch ", epoch), k.pass(other.Group("train", 2), epoch), uint64(i)+1)
	}
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
		k.refuses("Epoch of a group that cannot be", samplecache.ErrGroup)(wrong.Epoch(k.ctx, 0))
	}
	if again := c.Group("train", 2); again != c.Group("train", 2) {
		k.Error("Group: got two memberships of one group")
	}
	k.must(g.Close())
	k.pass(c.Group("none", 1), 0)
	third := place.join()
	k.pass(other.Group("train", 2), 0)
	k.refuses("Epoch of one rank too many", samplecache.ErrGroup)(third.Group("train", 2).Epoch(k.ctx, 0))
	k.must(c.Group("train", 2).Close())
	k.must(other.Group("train", 2).Close())
	k.pass(other.Group("train", 3), 0) // it begins anew
}

// groupsAtOnce checks W13: groups go their own ways, and ranks of each the same. Ranks are up to
// three epochs apart.
func groupsAtOnce(k *kit) {
	const groups, epochs = 3, 24
	place := k.create(samplecache.Config{Samples: 3, Limits: samplecache.Limits{MinPasses: 1, MaxPasses: 2}})
	readers, writers, sessions := k.crew(), k.crew(), place.joins(groups)
	f := &fixed{book: newBook()}
	for i := range groups {
		readers.start(func(ctx context.Context) (err error) {
			for epoch := uint64(0); epoch < epochs && err == nil; epoch += 4 {
				ranks := k.crew()
				for rank := range i + 1 {
					group := sessions[(i+rank)%groups].Group(fmt.Sprint("group-", i), i+1)
					ranks.start(func(ctx context.Context) error { return f.read(ctx, group, fmt.Sprint("group ", i), epoch) })
				}
				err = ranks.finish()
			}
			for rank := range i + 1 {
				err = errors.Join(err, sessions[(i+rank)%groups].Group(fmt.Sprint("group-", i), i+1).Close())
			}
			return err
		})
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
	if _, n := f.seen(); n < epochs/2 {
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
		name := fmt.Sprint(name, ", epoch ", epoch)
		g, err := group.Epoch(ctx, epoch)
		if err != nil {
			return about(err, "%s", name)
		}
		if other, _ := f.ids.LoadOrStore(name, g.ID()); other != g.ID() || g.ID() < last {
			return fmt.Errorf("%s: got generation %d after %d, and another rank %d", name, g.ID(), last, other)
		}
		last = g.ID()
		if err := f.see(ctx, g, 3); err != nil {
			return about(err, "%s", name)
		}
	}
	return nil
}
