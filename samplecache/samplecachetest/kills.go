package samplecachetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/go-tensordict/tensordict/samplecache"
)

// roles are the jobs of processes, which tell what they have done.
var roles = map[string]func(ctx context.Context, m *member, name string) error{"worker": work, "holder": hold}

// work puts the samples of a producer, tells the number of each that is acknowledged, and reads the
// latest generation again and again.
func work(ctx context.Context, m *member, name string) error {
	b := newBook(m.Config().Samples)
	p, err := m.claim(name) // the process before may have been killed
	for err == nil {
		var number uint64
		if number, err = put(ctx, p); err != nil {
			break
		}
		tell(number)
		if int(number) >= b.samples { // more than a generation
			err = b.watch(ctx, m, 1)
		}
	}
	return err
}

// hold holds all that a session can hold.
func hold(ctx context.Context, m *member, _ string) error {
	_, err := m.takeAll(ctx)
	if err == nil {
		tell("holds")
		<-ctx.Done()
	}
	return err
}

// requireProcesses skips the test if there are no other processes.
func (k *kit) requireProcesses() {
	k.Helper()
	if k.OneProcess {
		k.skip("other processes cannot join")
	}
	if testing.Short() {
		k.skip("it starts processes")
	}
}

// killedHolder checks W09: all that a process holds is free soon after it was killed.
func killedHolder(k *kit) {
	k.requireProcesses()
	h := k.holding()
	p := k.begin(job{"holder", heldName, h.place.name})
	equal(k, "the holder tells", p.next(), "holds")
	p.kill()
	h.freed()
}

// processes checks W01 to W03 and W07 across processes: three put and read, all are killed, and
// every generation is read here. Nothing that was acknowledged is lost or there twice.
func processes(k *kit) {
	k.requireProcesses()
	place := k.create(samplecache.Config{Samples: 5, Limits: everySeen})
	a, acknowledged := place.audit(), map[string]int{} // by producer: 1 + the last number
	hear := func(p *process, lines ...string) {
		for _, line := range lines {
			acknowledged[p.job.name] = max(acknowledged[p.job.name], 1+got(strconv.Atoi(line))(k))
		}
	}
	rng, all := rand.New(rand.NewPCG(5, 6)), make([]*process, 3)
	for i := range all {
		all[i] = k.begin(job{"worker", fmt.Sprint("gen-", i), place.name})
	}
	for range many(6, 100) {
		i := rng.IntN(len(all))
		for range 10 + rng.IntN(30) {
			hear(all[i], all[i].next())
		}
		hear(all[i], all[i].kill()...)
		all[i] = k.begin(all[i].job)
	}
	for _, p := range all {
		hear(p, p.next())
		hear(p, p.kill()...)
	}
	for name, n := range acknowledged {
		p := got(place.join().claim(name))(k)
		equal(k, "committed numbers of "+name+" above the first that is not", p.Window().Above, 0)
		if int(p.Next()) < n {
			k.Fatalf("Next of %s: got %d, and %d were acknowledged", name, p.Next(), n)
		}
		acknowledged[name] = int(p.Next())
	}
	k.Logf("samples of each producer: %v", acknowledged)
	a.settle(acknowledged)
}
