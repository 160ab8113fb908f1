package samplecachetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
)

// work does the job of a process until the process is killed. Depending on name, it holds
// everything that a session can hold; or it puts the samples of a producer, prints how many were
// acknowledged, and reads the latest generation.
func (p *place) work(name string) {
	k, m := p.k, p.join()
	if name == heldName {
		m.takeAll()
		<-k.ctx.Done()
		return
	}
	b, producer := newBook(m.Config().Samples), m.claim(name)
	for {
		n := k.puts(producer, 1)
		fmt.Println(reportPrefix, n)
		if int(n) >= b.samples {
			b.watch(k, m, 1)
		}
	}
}

// killedHolder checks W09: after a process is killed, everything that it held is soon free.
func killedHolder(k *kit) {
	h := k.holding()
	kill := k.begin(heldName, h.place.name)
	k.eventually("a process holds all", func() bool { s := h.writer.stats(); return s.Reserved == 2 && len(s.Groups) == 2 })
	time.Sleep(k.shortWait) // it holds the generation by now, too
	kill()
	h.freed()
}

// processes checks W01 to W03 and W07 across processes: three processes put and read, and are
// killed, while this one reads every generation. No acknowledged sample is lost or stored twice.
func processes(k *kit) {
	place := k.create(samplecache.Config{Samples: 5, Limits: everySeen})
	a, m, numbers := place.audit(), place.join(), map[string]uint64{}
	rng, names, kills := rand.New(rand.NewPCG(5, 6)), []string{"one", "other", "third"}, map[string]func() uint64{}
	for i := range len(names) + longtests.Times(6, 100) {
		name := names[i%len(names)]
		if kill := kills[name]; kill != nil {
			next := m.stats().Latest + 5 + rng.Uint64N(30)
			k.eventually("processes publish", func() bool { return m.stats().Latest >= next })
			numbers[name] = max(numbers[name], kill())
		}
		kills[name] = k.begin(name, place.name)
	}
	for _, name := range names {
		acknowledged := max(numbers[name], kills[name]())
		p := m.claim(name)
		equal(k, "committed numbers of "+name+" above the first that is not", p.Window().Above, 0)
		if numbers[name] = p.Next(); p.Next() < acknowledged {
			k.fatalf("Next of %s: got %d, and %d were acknowledged", name, p.Next(), acknowledged)
		}
	}
	k.Logf("samples of each producer: %v", numbers)
	a.finish(numbers)
}
