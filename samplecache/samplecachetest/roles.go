package samplecachetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/go-tensordict/tensordict/samplecache"
)

// roles are what processes do. They tell what they have done.
var roles = map[string]func(c *samplecache.Cache, name string) func(ctx context.Context) error{
	"producer": produce,
	"reader":   readLatest,
}

// produce puts the samples of a producer, and tells the number of each that is acknowledged.
func produce(c *samplecache.Cache, name string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		p, err := c.Producer(name)
		tell("began")
		for err == nil {
			var number uint64
			if number, err = put(ctx, p); err == nil {
				tell("put", number)
			}
		}
		if errors.Is(err, errOver) {
			return nil
		}
		return err
	}
}

// readLatest reads the latest generation again and again, and tells the number of each.
func readLatest(c *samplecache.Cache, _ string) func(ctx context.Context) error {
	w := &watch{book: newBook(), samples: c.Config().Samples}
	return func(ctx context.Context) error {
		g, err := c.Wait(ctx, 0)
		if err == nil {
			err = g.Close()
		}
		for err == nil && ctx.Err() == nil {
			var generation uint64
			if generation, err = w.look(ctx, c); err == nil {
				tell("read", generation)
			}
		}
		if errors.Is(err, errOver) {
			return nil
		}
		return err
	}
}

// kills is how many processes are killed.
const kills = 12

// processes checks W01 to W03 and W07 across processes: three put and two read, some are killed and
// replaced, and every generation is read here. Nothing that was acknowledged is lost or
// there twice.
func processes(k *kit) {
	if testing.Short() {
		k.Skip("it starts processes")
	}
	place := k.create(samplecache.Config{Samples: 5, Limits: everySeen})
	l := &ledger{auditor: place.audit(), acknowledged: map[string]int{}}
	var all []*process
	for i, role := range []string{"producer", "producer", "producer", "reader", "reader"} {
		all = append(all, k.begin(job{role, fmt.Sprint(role, "-", i), place.name}))
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range kills {
		i := rng.IntN(len(all))
		for range 10 + rng.IntN(50) {
			l.hear(all[i].job, all[i].next())
		}
		l.hear(all[i].job, all[i].kill()...)
		all[i] = k.begin(all[i].job)
	}
	for _, p := range all {
		l.hear(p.job, p.next())
		l.hear(p.job, p.finish()...)
	}
	l.settle()
	for name, n := range l.acknowledged {
		l.requirePut(name, n)
	}
}

// A ledger is what processes have told.
type ledger struct {
	*auditor
	acknowledged map[string]int // by producer: 1 + the last number
}

// hear hears what a process tells.
func (l *ledger) hear(j job, lines ...string) {
	l.k.Helper()
	for _, line := range lines {
		text, ok := strings.CutPrefix(line, "put ")
		if !ok {
			continue
		}
		number, err := strconv.Atoi(text)
		l.k.must(err)
		l.acknowledged[j.name] = max(l.acknowledged[j.name], number+1)
	}
}

// requirePut ends the test unless all samples of a producer that were acknowledged were published,
// and none but those that its window has.
func (l *ledger) requirePut(name string, acknowledged int) {
	l.k.Helper()
	p := l.k.producer(l.cache, name)
	equal(l.k, "committed numbers of "+name+" above the first that is not", p.Window().Above, 0)
	if int(p.Next()) < acknowledged {
		l.k.Fatalf("Next of %s: got %d, and %d were acknowledged", name, p.Next(), acknowledged)
	}
	l.requireAll(name, int(p.Next()))
	l.k.Logf("%s: %d samples, %d of them acknowledged", name, p.Next(), acknowledged)
}
