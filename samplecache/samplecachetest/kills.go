package samplecachetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/go-tensordict/tensordict/samplecache"
)

// roles are the jobs of processes, which tell what they have done.
var roles = map[string]func(ctx context.Context, m *member, name string) error{
	"producer": produce,
	"reader":   readLatest,
	"holder":   holdOn,
}

// produce puts the samples of a producer, and tells the number of each that is acknowledged.
func produce(ctx context.Context, m *member, name string) error {
	p, err := m.claim(name) // the process before may have been killed
	for err == nil {
		var number uint64
		if number, err = put(ctx, p); err == nil {
			tell("put", number)
		}
	}
	return err
}

// readLatest reads the latest generation again and again, and tells the number of each.
func readLatest(ctx context.Context, m *member, _ string) error {
	w := &watch{book: newBook(), samples: m.Config().Samples}
	err := w.first(ctx, m.Cache)
	for err == nil {
		var generation uint64
		if generation, err = w.look(ctx, m.Cache); err == nil {
			tell("read", generation)
		}
	}
	return err
}

// holdOn holds all that a session can hold.
func holdOn(ctx context.Context, m *member, name string) error {
	_, err := m.takeAll(ctx, name)
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
	p := k.begin(job{"holder", h.name, h.place.name})
	equal(k, "the holder tells", p.next(), "holds")
	p.kill()
	h.freed()
}

// kills is how many processes are killed, and replaced.
const kills = 12

// processes checks W01 to W03 and W07 across processes: three put and two read, all are killed, and
// every generation is read here. Nothing that was acknowledged is lost or there twice.
func processes(k *kit) {
	k.requireProcesses()
	place := k.create(samplecache.Config{Samples: 5, Limits: everySeen})
	a, acknowledged := place.audit(), map[string]int{} // by producer: 1 + the last number
	hear := func(j job, lines ...string) {
		for _, line := range lines {
			if text, ok := strings.CutPrefix(line, "put "); ok {
				acknowledged[j.name] = max(acknowledged[j.name], 1+got(strconv.Atoi(text))(k))
			}
		}
	}
	var all []*process
	for i, role := range []string{"producer", "producer", "producer", "reader", "reader"} {
		all = append(all, k.begin(job{role, fmt.Sprint(role, "-", i), place.name}))
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range kills {
		i := rng.IntN(len(all))
		for range 10 + rng.IntN(50) {
			hear(all[i].job, all[i].next())
		}
		hear(all[i].job, all[i].kill()...)
		all[i] = k.begin(all[i].job)
	}
	for _, p := range all {
		hear(p.job, p.next())
		hear(p.job, p.kill()...)
	}
	for name, n := range acknowledged {
		p := got(place.member().claim(name))(k)
		equal(k, "committed numbers of "+name+" above the first that is not", p.Window().Above, 0)
		if int(p.Next()) < n {
			k.Fatalf("Next of %s: got %d, and %d were acknowledged", name, p.Next(), n)
		}
		acknowledged[name] = int(p.Next())
	}
	a.settle()
	for name, n := range acknowledged {
		a.requireAll(name, n)
	}
	k.Logf("samples of each producer: %v", acknowledged)
}
