package samplecachetest

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/samplecache"
)

// everySeen are limits under which the auditor reads each generation, and each once.
var everySeen = samplecache.Limits{MinPasses: 1, MaxPasses: 1}

// An auditor reads every generation of a cache whose limits are everySeen.
type auditor struct {
	*book
	k       *kit
	cache   *samplecache.Cache
	samples int
	crew    *crew
}

// audit begins to read every generation. No other group has been entered, and nothing published.
func (p *place) audit() *auditor {
	p.k.Helper()
	c := p.join()
	a := &auditor{newBook(), p.k, c, c.Config().Samples, p.k.crew()}
	a.crew.start(func(ctx context.Context) error {
		err := a.run(ctx)
		if err != nil {
			p.k.end(err) // or others would wait for the auditor
		}
		return err
	})
	p.k.eventually("the auditor enters its group", func() bool { return len(p.k.stats(c).Groups) == 1 })
	return a
}

func (a *auditor) run(ctx context.Context) error {
	group := a.cache.Group("audit", 1)
	for epoch := uint64(0); ; epoch++ {
		g, err := group.Epoch(ctx, epoch)
		if context.Cause(ctx) == errOver {
			return nil
		}
		if err != nil {
			return about(err, "epoch %d", epoch)
		}
		if g.ID() != epoch+1 {
			return fmt.Errorf("epoch %d: got generation %d, want %d", epoch, g.ID(), epoch+1)
		}
		if err := a.see(ctx, g, a.samples); err != nil {
			return err
		}
	}
}

// settle completes the generation that is being filled, so that all samples are published, and
// waits until they are read.
func (a *auditor) settle() {
	a.k.Helper()
	p := a.k.producer(a.cache, "filler")
	for a.k.stats(a.cache).Committed > 0 {
		_, err := put(a.k.ctx, p)
		a.k.must(err)
	}
	latest := a.k.stats(a.cache).Latest
	a.k.eventually("the auditor reads all", func() bool {
		last, _ := a.seen()
		return last == latest || a.crew.ctx.Err() != nil
	})
	a.k.must(a.crew.stop())
	a.k.must(p.Close())
}

// requireAll ends the test unless samples from number 0 on were published, and none after them.
func (a *auditor) requireAll(name string, n int) {
	a.k.Helper()
	for number := range uint64(n) {
		if !a.has(idOf(name, number)) {
			a.k.Fatalf("sample %d of producer %q is lost", number, name)
		}
	}
	if a.has(idOf(name, uint64(n))) {
		a.k.Fatalf("sample %d of producer %q was published and never put", n, name)
	}
}
