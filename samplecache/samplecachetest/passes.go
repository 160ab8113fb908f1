package samplecachetest

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
)

// passesMost checks W12: a group begins MaxPasses passes over a generation; then Epoch waits for
// another one. Passes are counted exactly, even if their number does not fit in one or two bytes.
func passesMost(k *kit) {
	for _, most := range []uint64{2, uint64(longtests.Times(300, 1<<16+100))} {
		place := k.create(samplecache.Config{Samples: 3, Limits: samplecache.Limits{MaxPasses: int(most)}})
		writer, m := place.join(), place.join()
		p := writer.producer("gen")
		for generation := range uint64(2) {
			writer.fill(p, generation+1)
			for epoch := range most {
				equal(k, "the generation of the epoch", m.pass("train", 1, generation*most+epoch), generation+1)
			}
			k.waits(fmt.Sprint("epoch ", most, " of the generation"), func(ctx context.Context) error {
				_, err := m.Group("train", 1).Epoch(ctx, (generation+1)*most)
				return err
			})
			equal(k, "the generation of another group", writer.pass("other", 1, generation), generation+1)
		}
		crew := k.crew()
		crew.start(func(k *kit) { k.puts(p, 3) })
		equal(k, "the generation that was waited for", m.pass("train", 1, 2*most), 3)
		crew.finish()
	}
}

// epochsAgain checks W12: asking for an epoch again and again uses up nothing.
func epochsAgain(k *kit) {
	place := k.create(samplecache.Config{Samples: 2})
	m, other := place.join(), place.join()
	p := m.producer("gen")
	m.fill(p, 1)
	for range longtests.Times(1000, 10_000) {
		m.pass("train", 1, 0)
	}
	m.fill(p, 2)
	equal(k, "the generation of the next epoch", m.pass("train", 1, 1), 2)
	equal(k, "the generation of another group", other.pass("other", 1, 0), 2)
	m.fill(p, 5)
	k.refuses("At once nobody needs it", samplecache.ErrGenerationGone)(m.At(k.ctx, 1))
}

// passesLeast checks W12: a generation is published once each group has taken all rows of the
// previous one MinPasses times, or has ended its pass.
func passesLeast(k *kit) {
	for name, end := range map[string]func(m *member, g *samplecache.Generation) error{
		"all rows are taken": func(_ *member, g *samplecache.Generation) error {
			k.views(g, 0, 1)
			_, err := g.Fetch(k.ctx, []int{1}, nil)
			return err
		},
		"the generation is closed": func(_ *member, g *samplecache.Generation) error { return g.Close() },
		"the group is left":        func(m *member, _ *samplecache.Generation) error { return m.Group("other", 1).Close() },
		"the cache is left":        func(m *member, _ *samplecache.Generation) error { return m.Close() },
	} {
		place := k.create(samplecache.Config{Samples: 4, Limits: samplecache.Limits{MinPasses: 1}})
		writer, one, other := place.join(), place.join(), place.join()
		p := writer.producer("gen")
		writer.fill(p, 1)
		one.pass("one", 1, 0) // the groups join late: generation 2 does not wait for them
		other.pass("other", 1, 0)
		writer.fill(p, 2)
		k.puts(p, 4)
		g := other.epoch("other", 1, 1)
		newBook(4).see(k, one.epoch("one", 1, 1))
		_ = got(g.Fetch(k.ctx, []int{3, 2}, nil))(k)
		k.waits("generation 3, before "+name, func(ctx context.Context) error { _, err := writer.Wait(ctx, 2); return err })
		k.waits("Reserve, before "+name, reserving(p))
		if s := writer.stats(); s.Latest != 2 || s.PublishWaits == "" {
			k.fatalf("before %s: got generation %d and PublishWaits %q, want 2 and a reason", name, s.Latest, s.PublishWaits)
		}
		k.must(end(other, g))
		equal(k, "the generation that was waited for", got(writer.Wait(k.ctx, 2))(k).ID(), 3)
		k.puts(p, 1)
	}
}
