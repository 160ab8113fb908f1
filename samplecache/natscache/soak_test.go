//go:build unix

package natscache_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

// TestSoak kills and stops processes and a server, and cuts links, at random, while three producers
// put samples. At the end of each round, each number is there once, and no sample that was
// acknowledged is lost. It takes six minutes.
func TestSoak(t *testing.T) {
	if !longtests.On() {
		t.Skip("it takes minutes: set TENSORDICT_LONG")
	}
	const size = 800
	total, done := uint64(0), map[string]int{}
	for round := range 8 {
		s := newServer(t)
		place := fmt.Sprint("soak", round)
		require.NoError(t, natscache.Create(soon(t), s.url(), place, marked("", 0, size), audited(8000)))
		k := newLink(t, s.setup.Addr)
		if round%2 == 1 {
			// A part of a snapshot is a message of 1.4 MB, which must get through at last.
			k.faults.Store(&faults{cutWithin: 4 << 20, drop: 0.0005, delay: 100 * time.Microsecond})
		}
		begin := func(name string) *worker {
			return start(t, job{Role: "put", URL: k.url(), Place: place, Name: name, Size: size})
		}
		names := []string{"one", "other", "third"}
		var now, all []*worker
		for _, name := range names {
			now = append(now, begin(name))
		}
		all = append(all, now...)
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
			i := rand.N(len(now))
			time.Sleep(rand.N(700 * time.Millisecond))
			switch what := rand.N(10); {
			case what < 3:
				done["processes killed"]++
				now[i].kill()
				now[i] = begin(names[i])
				all = append(all, now[i])
			case what < 5:
				done["processes stopped"]++
				now[i].stop()
				time.Sleep(rand.N(2 * pausing))
				now[i].resume()
			case what < 7:
				done["servers killed"]++
				s.kill()
				time.Sleep(rand.N(300 * time.Millisecond))
				s.start()
			case what < 8:
				done["servers stopped"]++
				s.stop()
				time.Sleep(rand.N(2 * pausing))
				s.resume()
			default:
				done["links cut"]++
				k.Cut(true)
				time.Sleep(rand.N(pausing))
				k.Cut(false)
			}
		}
		for _, w := range now {
			w.advances(patience, 3)
			w.kill()
		}
		c := join(t, natscache.Engine{URL: s.url(), Name: place})
		found := audit(t, c, size, numbers(all...))
		t.Logf("round %d: acknowledged %v, found %v", round, numbers(all...), found)
		for _, n := range found {
			total += n
		}
		require.NoError(t, c.Close())
		s.kill()
	}
	t.Logf("%d samples, each once, none lost: %v", total, done)
}
