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
	*member
	*crew
}

// audit begins to read every generation. No other group has been entered, and nothing published.
func (p *place) audit() *auditor {
	p.k.Helper()
	m := p.join()
	a := &auditor{newBook(m.Config().Samples), m, p.k.crew()}
	a.start(a.run)
	p.k.eventually("the auditor enters its group", func() bool { return len(m.stats().Groups) == 1 })
	return a
}

func (a *auditor) run(ctx context.Context) error {
	for epoch := uint64(0); ; epoch++ {
		g, err := a.Group("audit", 1).Epoch(ctx, epoch)
		if err != nil {
			return err
		}
		if g.ID() != epoch+1 {
			return fmt.Errorf("epoch %d: got generation %d, want %d", epoch, g.ID(), epoch+1)
		}
		if err := a.see(ctx, g); err != nil {
			return err
		}
	}
}

// settle completes the generation that is being filled, so that all samples are published, and
// waits until they are read. Samples of each producer, from number 0 on, must be there then, and
// none after them.
func (a *auditor) settle(numbers map[string]int) {
	k := a.member.k
	k.Helper()
	p := a.producer("filler")
	for a.stats().Committed > 0 {
		k.must(puts(k.ctx, p, 1))
	}
	latest := a.stats().Latest
	k.eventually("the auditor reads all", func() bool {
		n, _ := a.seen(id{})
		return n == int(latest) || k.Failed()
	})
	a.stop()
	a.finish()
	for name, n := range numbers {
		for number := range uint64(n) {
			if _, where := a.seen(idOf(name, number)); where == 0 {
				k.Fatalf("sample %d of producer %q is lost", number, name)
			}
		}
		if _, where := a.seen(idOf(name, uint64(n))); where != 0 {
			k.Fatalf("sample %d of producer %q was published and never put", n, name)
		}
	}
}
