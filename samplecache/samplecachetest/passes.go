package samplecachetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
)

// passesMost checks W12: a group begins MaxPasses passes, then Epoch waits for another generation.
func passesMost(k *kit) {
	place := k.create(samplecache.Config{Samples: 3, Limits: samplecache.Limits{MaxPasses: 2}})
	c, other := place.join(), place.join()
	p, group := k.producer(c, "gen"), other.Group("train", 1)
	for generation := uint64(1); generation <= 3; generation++ {
		k.fill(c, p, generation)
		for epoch := 2*generation - 2; epoch < 2*generation; epoch++ {
			equal(k, "the generation of the epoch", k.pass(group, epoch), generation)
		}
		k.waits("a third epoch", func(ctx context.Context) error {
			_, err := group.Epoch(ctx, 2*generation)
			return err
		})
		equal(k, "the generation of another group", k.pass(c.Group("other", 1), generation), generation)
	}
	crew := k.crew()
	crew.start(func(ctx context.Context) error { return puts(ctx, p, 3) })
	equal(k, "the generation that was waited for", k.pass(group, 6), 4)
	k.must(crew.finish())
}

// pass begins an epoch and closes it. It returns the generation.
func (k *kit) pass(group *samplecache.Group, epoch uint64) uint64 {
	k.Helper()
	g := got(group.Epoch(k.ctx, epoch))(k)
	k.must(g.Close())
	return g.ID()
}

// slowly is how long 1,000 epochs may take, or 65,536 take too long.
var slowly = 100 * time.Millisecond

// passesMany checks W12: all passes are counted, also where two bytes do not hold their number.
func passesMany(k *kit) {
	const most = 1<<16 + 100
	c := k.create(samplecache.Config{Samples: 1, Limits: samplecache.Limits{MaxPasses: most}}).join()
	k.fill(c, k.producer(c, "gen"), 1)
	group, began := c.Group("train", 1), time.Now()
	for epoch := range uint64(most) {
		if took := time.Since(began); epoch == 1000 && (testing.Short() || took > slowly) {
			k.skip(fmt.Sprintf("1,000 of the %d epochs took %v", most, took))
		}
		equal(k, "the generation of the epoch", k.pass(group, epoch), 1)
	}
	k.waits("one more epoch", func(ctx context.Context) error { _, err := group.Epoch(ctx, most); return err })
}

// epochsAgain checks W12: whoever asks for an epoch again and again uses nothing up.
func epochsAgain(k *kit) {
	place := k.create(samplecache.Config{Samples: 2})
	c, other := place.join(), place.join()
	p := k.producer(c, "gen")
	k.fill(c, p, 1)
	for range 10_000 {
		k.pass(c.Group("train", 1), 0)
	}
	k.fill(c, p, 2)
	equal(k, "the generation of the next epoch", k.pass(c.Group("train", 1), 1), 2)
	equal(k, "the generation of another group", k.pass(other.Group("other", 1), 0), 2)
	k.fill(c, p, 5)
	k.refuses("At once nobody needs it", samplecache.ErrGenerationGone)(c.At(k.ctx, 1))
}

// A pair is two groups that publishing waits for.
type pair struct {
	k      *kit
	writer *samplecache.Cache
	p      *samplecache.Producer
	reader [2]*samplecache.Cache
	group  [2]*samplecache.Group
}

// pair makes a cache whose generation 2 is published, and generation 3 full. Two groups have joined
// after generation 1 was published, which did not wait for them.
func (k *kit) pair() *pair {
	k.Helper()
	place := k.create(samplecache.Config{Samples: 4, Limits: samplecache.Limits{MinPasses: 1}})
	r := &pair{k: k, writer: place.join()}
	r.p = k.producer(r.writer, "gen")
	k.fill(r.writer, r.p, 1)
	for i := range r.group {
		r.reader[i] = place.join()
		r.group[i] = r.reader[i].Group([]string{"one", "other"}[i], 1)
		k.pass(r.group[i], 0)
	}
	k.fill(r.writer, r.p, 2)
	k.must(puts(k.ctx, r.p, 4))
	r.held("before anybody read")
	return r
}

// held ends the test unless generation 3 is full and waits to be published.
func (r *pair) held(when string) {
	r.k.Helper()
	r.k.waits("generation 3, "+when, func(ctx context.Context) error { _, err := r.writer.Wait(ctx, 2); return err })
	r.k.waits("Reserve, "+when, func(ctx context.Context) error { _, err := r.p.Reserve(ctx); return err })
	s := r.k.stats(r.writer)
	equal(r.k, "the generation published last, "+when, s.Latest, 2)
	if s.PublishWaits == "" {
		r.k.Fatalf("PublishWaits, %s: got none, want what generation 3 waits for", when)
	}
}

// released ends the test unless generation 3 is published soon.
func (r *pair) released() {
	r.k.Helper()
	g := got(r.writer.Wait(r.k.ctx, 2))(r.k)
	equal(r.k, "the generation published last", g.ID(), 3)
	r.k.must(g.Close())
	r.k.must(puts(r.k.ctx, r.p, 1))
}

// begin begins an epoch of generation 2 for each group.
func (r *pair) begin() (both [2]*samplecache.Generation) {
	r.k.Helper()
	for i, group := range r.group {
		both[i] = got(group.Epoch(r.k.ctx, 1))(r.k)
		equal(r.k, "the generation of the epoch", both[i].ID(), 2)
	}
	return both
}

// passesLeast checks W12: a generation is published once each group has taken MinPasses of the one
// before.
func passesLeast(k *kit) {
	r := k.pair()
	both := r.begin()
	_ = got(both[0].Fetch(k.ctx, []int{0, 1, 2, 3}, nil))(k)
	_ = got(both[1].Fetch(k.ctx, []int{3, 2}, nil))(k)
	r.held("before all rows were taken")
	_ = got(both[1].Fetch(k.ctx, []int{1}, nil))(k)
	_, _, err := viewed(k.ctx, both[1], 0, 1)
	k.must(err)
	r.released()
	k.must(both[0].Close())
	k.must(both[1].Close())
}

// passesEarly checks W12: nobody waits for groups that do not read on.
func passesEarly(k *kit) {
	for name, leave := range map[string]func(r *pair, g *samplecache.Generation) error{
		"the generation is closed": func(_ *pair, g *samplecache.Generation) error { return g.Close() },
		"the group is left":        func(r *pair, _ *samplecache.Generation) error { return r.group[1].Close() },
		"the cache is left":        func(r *pair, _ *samplecache.Generation) error { return r.reader[1].Close() },
	} {
		r := k.pair()
		both := r.begin()
		k.must(newBook().see(k.ctx, both[0], 4))
		r.held("before " + name)
		k.must(leave(r, both[1]))
		r.released()
	}
}
