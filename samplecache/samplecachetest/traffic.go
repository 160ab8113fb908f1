package samplecachetest

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
)

// wholeGenerations checks W01, W02, W03 and W13: one or several readers check all rows of the
// latest generation, again and again, while one or several producers publish. Every other time,
// another reader reads each generation, and publishing waits for it.
func wholeGenerations(k *kit) {
	counts, limits := []int{1, 2, 8}, []samplecache.Limits{everySeen, {}}
	for i := range len(counts) * len(counts) {
		producers, readers := counts[i/len(counts)], counts[i%len(counts)]
		k.run(samplecache.Config{Samples: 8, Limits: limits[i%2]}, 3, producers, readers, longtests.Times(5, 100))
	}
}

// run makes producers publish generations and readers read them, in n sessions. It checks the
// generations that they see, and the generations that all sessions see at the end.
func (k *kit) run(config samplecache.Config, n, producers, readers, generations int) (sessions []*member, b *book) {
	place, crew := k.create(config), k.crew()
	b = newBook(config.Samples)
	if config.Limits == everySeen {
		b = place.audit().book
	}
	sessions = place.joins(n)
	for i := range readers {
		m := sessions[len(sessions)-1-i%len(sessions)]
		crew.start(func(k *kit) { b.watch(k, m, uint64(generations)) })
	}
	each := (generations*config.Samples-1)/producers + 1
	for i := range producers {
		p := sessions[i%len(sessions)].producer(fmt.Sprint("gen-", i))
		crew.start(func(k *kit) { k.puts(p, each) })
	}
	crew.finish()
	latest := uint64(each * producers / config.Samples)
	for _, m := range sessions {
		s := m.stats()
		equal(k, "the generation published last", s.Latest, latest)
		equal(k, "generations published", s.Swaps, latest)
		equal(k, "samples of the next", s.Committed, each*producers%config.Samples)
		b.see(k, m.latest())
	}
	k.Logf("%d generations of %d were read", b.seen(), latest)
	return sessions, b
}

// publishedOnce checks W04 and W08: if sessions complete generations at the same time, each
// generation is published once, and Retain generations are kept that no session holds.
func publishedOnce(k *kit) {
	generations := longtests.Times(16, 200)
	for _, is := range []struct {
		retain int
		kept   uint64 // generations kept besides the latest
	}{{-1, 0}, {0, 1}, {15, 15}} {
		sessions, b := k.run(samplecache.Config{Samples: 4, Retain: is.retain}, 8, 8, 0, generations)
		for _, m := range sessions {
			for n := uint64(1); n <= uint64(generations); n++ {
				g, err := m.At(k.ctx, n)
				if n+is.kept < uint64(generations) {
					k.wants("At of a generation that is not retained", err, samplecache.ErrGenerationGone)
					continue
				}
				b.see(k, got(g, err)(k))
			}
		}
	}
}
