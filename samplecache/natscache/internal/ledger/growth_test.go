package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// crowd returns a cache with as many things, of a process for each ten.
func crowd(t testing.TB, things int, config engine.Config) *cache {
	c := newCache(t, config)
	c.fast = true
	for p := 0; len(c.Things) < things; p++ {
		name := fmt.Sprint("p", p)
		session := c.join(name)[0]
		events := []Event{{Kind: Claim, Of: session}, {Kind: Claim, Of: session, Name: name}}
		for range 3 {
			events = append(events, Event{Kind: Join}, Event{Kind: Claim, Of: session})
		}
		c.send(name, events...)
	}
	return c
}

// works are what processes do again and again. They leave as many things as there were.
var works = []struct {
	name string
	do   func(c *cache, session, claim, seat uint64)
}{
	{"put", func(c *cache, session, claim, seat uint64) { c.put("me", claim, 0) }},
	{"abort", func(c *cache, session, claim, seat uint64) {
		c.ok("me", Event{Kind: End, Of: c.ok("me", Event{Kind: Reserve, Of: claim})})
	}},
	{"claim", func(c *cache, session, claim, seat uint64) {
		c.ok("me", Event{Kind: End, Of: c.ok("me", Event{Kind: Claim, Of: session, Name: "mine"})})
	}},
	{"hold", func(c *cache, session, claim, seat uint64) {
		c.ok("me", Event{Kind: End, Of: c.ok("me", Event{Kind: Hold, Of: session, Generation: c.Latest})})
	}},
	{"pass", func(c *cache, session, claim, seat uint64) {
		pass := c.ok("me", Event{Kind: Begin, Of: seat, Epoch: c.Seq})
		c.ok("me", Event{Kind: Take, Of: pass, Count: 1})
		c.ok("me", Event{Kind: End, Of: pass})
	}},
	{"session", func(c *cache, session, claim, seat uint64) {
		c.ok("me", Event{Kind: End, Of: c.ok("me", Event{Kind: Join})})
	}},
	{"process", func(c *cache, session, claim, seat uint64) {
		name := fmt.Sprint("other ", c.Seq)
		c.join(name)
		c.ok("me", Event{Kind: Gone, Name: name})
		delete(c.numbers, name)
	}},
	{"tick", func(c *cache, session, claim, seat uint64) { c.ok("me", Event{Kind: Tick}) }},
}

// worker adds a process to a cache, and returns what it has.
func worker(c *cache) (session, claim, seat uint64) {
	session = c.join("me")[0]
	claim = c.ok("me", Event{Kind: Claim, Of: session})
	for c.Latest == 0 {
		var events []Event
		for n := range uint64(100) {
			events = append(events, Event{Kind: Reserve, Of: claim}, committed(c.Last+1+n))
		}
		s := c.send("me", events...)
		require.NoError(c.t, s.Outcomes[199].Err)
	}
	return session, claim, c.ok("me", Event{Kind: Enter, Of: session, Name: "g", World: 1})
}

// sizes are numbers of things, or of samples of a generation.
var sizes = []struct {
	name            string
	things, samples int
}{
	{"things=100", 100, 1000}, {"things=1000", 1000, 1000}, {"things=10000", 10_000, 1000},
	{"samples=1000", 100, 1000}, {"samples=10000", 100, 10_000}, {"samples=100000", 100, 100_000},
}

// BenchmarkGrowth is what events cost, with more and more things, and more and more samples.
func BenchmarkGrowth(b *testing.B) {
	for _, size := range sizes {
		c := crowd(b, size.things, engine.Config{Samples: size.samples})
		session, claim, seat := worker(c)
		for _, w := range works {
			b.Run(size.name+"/"+w.name, func(b *testing.B) {
				c.t = b
				from := c.Seq
				for b.Loop() {
					w.do(c, session, claim, seat)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(c.Seq-from), "ns/event")
			})
		}
	}
}

// TestGrowth checks that no event costs much more with a hundred times as many things or samples.
// Where each event walked over all of them, some cost eight times as much. Other work makes rounds
// slow, so only the fastest of each cache counts.
func TestGrowth(t *testing.T) {
	caches := []*cache{
		crowd(t, 100, engine.Config{Samples: 1000}),
		crowd(t, 10_000, engine.Config{Samples: 1000}),
		crowd(t, 100, engine.Config{Samples: 100_000}),
	}
	has := make([][3]uint64, len(caches)) // session, claim and seat
	for i, c := range caches {
		has[i][0], has[i][1], has[i][2] = worker(c)
	}
	const events, most = 20, 3
	for _, w := range works {
		least := []time.Duration{time.Hour, time.Hour, time.Hour}
		grows := func() bool { return max(least[1], least[2]) > most*least[0] }
		for round := 0; round < 10 || round < 100 && grows(); round++ {
			for i, c := range caches {
				begun := time.Now()
				for range events {
					w.do(c, has[i][0], has[i][1], has[i][2])
				}
				least[i] = min(least[i], time.Since(begun))
			}
		}
		t.Logf("%-8s %8v, with more things %8v, with more samples %8v", w.name, least[0]/events, least[1]/events, least[2]/events)
		require.False(t, grows(), "%s grows", w.name)
	}
}
