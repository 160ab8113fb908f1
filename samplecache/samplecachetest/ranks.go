package samplecachetest

import (
	"fmt"
	"sync"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
)

// ranksAgree checks W12: the first rank that asks for an epoch fixes its generation, which is kept
// until all ranks have closed it. All 64 bits of an epoch's number count, and eight epochs are
// remembered. All ranks must give the same world, and no more than that many can join.
func ranksAgree(k *kit) {
	place := k.create(samplecache.Config{Samples: 2})
	writer, one, other := place.join(), place.join(), place.join()
	p, b := writer.producer("gen"), newBook(2)
	writer.fill(p, 1)
	b.see(k, one.epoch("train", 2, 7))
	writer.fill(p, 9)
	late := other.epoch("train", 2, 7)
	equal(k, "the generation of the second rank", late.ID(), 1)
	writer.fill(p, 15)
	b.see(k, late)
	writer.fill(p, 20)
	k.refuses("At once all ranks have closed it", samplecache.ErrGenerationGone)(one.At(k.ctx, 1))
	for i, epoch := range []uint64{0, 1 << 8, 1 << 16, 1 << 24, 1 << 31, 1 << 32, 1 << 40, 1 << 63} {
		generation := uint64(21 + i)
		writer.fill(p, generation)
		for _, rank := range []*member{one, other} {
			equal(k, fmt.Sprint("the generation of epoch ", epoch), rank.pass("train", 2, epoch), generation)
		}
	}
	k.refuses("an epoch that is not remembered", samplecache.ErrGenerationGone)(one.Group("train", 2).Epoch(k.ctx, 7))
	k.refuses("Epoch with another number of ranks", samplecache.ErrGroup)(writer.Group("train", 3).Epoch(k.ctx, 0))
	k.refuses("Epoch of one rank too many", samplecache.ErrGroup)(writer.Group("train", 2).Epoch(k.ctx, 0))
	k.must(one.Group("train", 2).Close())
	k.must(other.Group("train", 2).Close())
	writer.pass("train", 3, 0) // the group begins again
}

// groupsAtOnce checks W13: each group has its own epochs, and the ranks of a group read the same
// generations. Ranks are up to three epochs apart.
func groupsAtOnce(k *kit) {
	const groups = 3
	place := k.create(samplecache.Config{Samples: 3, Limits: samplecache.Limits{MaxPasses: 2}})
	writers, sessions, b := k.crew(), place.joins(groups), newBook(3)
	for i, m := range sessions {
		p := m.producer(fmt.Sprint("gen-", i))
		writers.start(func(k *kit) { k.puts(p, 1<<30) })
	}
	var fixed sync.Map // the generation of each epoch of each group
	epochs := longtests.Times(12, 120)
	for first := 0; first < epochs; first += 4 {
		readers := k.crew()
		for i := range groups * groups {
			name, rank, world := fmt.Sprint("group-", i/groups), i%groups, i/groups+1
			if rank >= world {
				continue
			}
			group := sessions[i%groups].Group(name, world)
			readers.start(func(k *kit) {
				last := uint64(0)
				for epoch := uint64(first); epoch < uint64(first+4); epoch++ {
					g := got(group.Epoch(k.ctx, epoch))(k)
					other, _ := fixed.LoadOrStore(fmt.Sprint(name, epoch), g.ID())
					if other != g.ID() || g.ID() < last {
						k.fatalf("epoch %d of %s: got generation %d after %d, and another rank %d", epoch, name, g.ID(), last, other)
					}
					last = g.ID()
					b.see(k, g)
				}
			})
		}
		readers.finish()
	}
	writers.stop()
	writers.finish()
	if n := b.seen(); n < epochs/2 {
		k.Errorf("the groups have read %d generations in %d epochs of at most 2 each", n, epochs)
	}
}
