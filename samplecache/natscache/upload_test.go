//go:build unix

package natscache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

// TestUploadGoesOn breaks Commits off in the middle of their chunks and calls them again, while
// links are cut, lives end and there is no room. The bytes that are read are those that were put.
func TestUploadGoesOn(t *testing.T) {
	t.Parallel()
	const size = 6 << 20
	puts := uint64(4)
	if longtests.On() {
		puts = 12
	}
	s := newServer(t)
	js := admin(t, s.url())
	require.NoError(t, natscache.Create(soon(t), s.url(), "upload", marked("", 0, size), audited(3)))
	var calls, cuts, lives, full, strays atomic.Int64
	acknowledged := map[string]uint64{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, name := range []string{"one", "other"} {
		k := newLink(t, s.setup.Addr)
		c, err := samplecache.Open(soon(t), natscache.Engine{URL: k.url(), Name: "upload"}, samplecache.Options{OnError: func(err error) { t.Log("OnError:", err) }})
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		p := producer(t, c, name)
		all.Go(func() {
			for n := range puts {
				slot, err := again(soon(t), func() (*samplecache.Slot, error) { return p.ReserveAt(soon(t), n) })
				if err != nil {
					t.Error(err)
					return
				}
				if err := slot.Sample().UpdateInPlace(marked(name, n, size)); err != nil {
					t.Error(err)
					return
				}
				if n%2 == 1 {
					k.faults.Store(&faults{cutWithin: 3 << 20, drop: 0.02})
					k.Cut(true)
					k.Cut(false)
				}
				for try := 0; ; try++ {
					calls.Add(1)
					if try == 20 {
						k.faults.Store(&faults{})
						k.Cut(true)
						k.Cut(false)
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+rand.N(10+2*try))*5*time.Millisecond)
					if rand.N(8) == 0 {
						cuts.Add(1)
						k.Cut(true)
						if rand.N(3) == 0 {
							lives.Add(1)
							time.Sleep(2 * lease)
						}
						k.Cut(false)
					}
					err := slot.Commit(ctx)
					cancel()
					if err == nil {
						break
					}
					if errors.Is(err, natscache.ErrNoRoom) {
						full.Add(1)
						continue
					}
					if !errors.Is(err, samplecache.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("Commit %d: %v", n, err)
						return
					}
				}
				k.faults.Store(&faults{})
				mu.Lock()
				acknowledged[name] = n + 1
				mu.Unlock()
			}
		})
	}
	done := make(chan struct{})
	var filler sync.WaitGroup
	filler.Go(func() { // leaves no room, with samples that no commit names
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			default:
			}
			_, err := js.Publish(t.Context(), fmt.Sprint("tdcache.upload.rows.1.", 1_000_000+n%50), make([]byte, 1<<19))
			if err != nil {
				strays.Add(1)
				time.Sleep(300 * time.Millisecond)
			}
		}
	})
	all.Wait()
	close(done)
	filler.Wait()
	c := join(t, natscache.Engine{URL: s.url(), Name: "upload"})
	found := audit(t, c, size, acknowledged)
	t.Log(found, "calls", calls.Load(), "cuts", cuts.Load(), "lives", lives.Load(), "ErrNoRoom", full.Load(), "times full", strays.Load())
}

// visit joins, reads the latest generation, and leaves, again and again.
func (w *work) visit() error {
	if err := w.c.Close(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		c, err := samplecache.Open(ctx, natscache.Engine{URL: w.URL, Name: w.Place}, samplecache.Options{})
		if err != nil {
			cancel()
			return fmt.Errorf("open %d: %w", n, err)
		}
		g, err := c.Wait(ctx, 0)
		cancel()
		if err != nil {
			return fmt.Errorf("wait %d: %w", n, err)
		}
		if _, err := whole(g, w.Size); err != nil {
			return fmt.Errorf("generation %d: %w", g.ID(), err)
		}
		if err := errors.Join(g.Close(), c.Close()); err != nil {
			return err
		}
		fmt.Println("put", n, time.Since(began).Milliseconds())
	}
}

// TestVisitors joins, reads and leaves all the time, while processes that put samples, and with
// them those that store snapshots and remove events, are killed.
func TestVisitors(t *testing.T) {
	t.Parallel()
	visitors(t, false)
}

// TestVisitorsOfThree is TestVisitors on three servers.
func TestVisitorsOfThree(t *testing.T) {
	if !longtests.On() {
		t.Skip("it takes half a minute: set TENSORDICT_LONG")
	}
	visitors(t, true)
}

func visitors(t *testing.T, three bool) {
	const size = 64
	took := 4 * time.Second
	if longtests.On() {
		took = 25 * time.Second
	}
	url := ""
	config := natscache.Config{Lease: lease}
	config.Samples, config.MaxHeld = 50, 30
	if three {
		c := newCluster(t)
		url = c.url()
		require.NoError(t, c.create(soon(t), "visitors", marked("", 0, size), config))
	} else {
		s := newServer(t)
		url = s.url()
		require.NoError(t, natscache.Create(soon(t), url, "visitors", marked("", 0, size), config))
	}
	j := func(role string, i int) job {
		return job{Role: role, URL: url, Place: "visitors", Name: fmt.Sprint(role, i), Size: size}
	}
	var now []*worker
	for i := range 3 {
		now = append(now, start(t, j("put", i)))
	}
	for i := range 8 {
		now = append(now, start(t, j("visit", i)))
	}
	for i := range 2 {
		now = append(now, start(t, j("see", i)))
	}
	kills, visits := 0, uint64(0)
	js := admin(t, strings.Split(url, ",")[0])
	log, err := js.Stream(soon(t), "tdcache_visitors_log")
	require.NoError(t, err)
	for end := time.Now().Add(took); time.Now().Before(end); {
		time.Sleep(rand.N(400 * time.Millisecond))
		i := rand.N(13)
		if i > 4 && rand.N(2) == 0 {
			i = rand.N(3)
		}
		kills++
		role := now[i].job
		now[i].kill()
		if role.Role == "visit" {
			visits += now[i].acknowledged()
		}
		role.Name = fmt.Sprint(role.Role, 100+kills) // the name of the dead one is busy for a lease
		now[i] = start(t, role)
		for i, w := range now {
			if why, over := w.said("end"); over {
				t.Error(w.job.Name, "ended:", why)
				w.kill()
				now[i] = start(t, w.job)
			}
		}
	}
	slowest := time.Duration(0)
	for _, w := range now {
		w.advances(patience, 1)
	}
	for _, w := range now {
		if w.job.Role == "visit" {
			visits += w.acknowledged()
			slowest = max(slowest, w.slow())
		}
		w.kill()
		if why, over := w.said("end"); over {
			t.Error(w.job.Name, "ended:", why)
		}
	}
	info, err := log.Info(soon(t))
	require.NoError(t, err)
	c := join(t, natscache.Engine{URL: url, Name: "visitors"})
	st, err := c.Stats()
	require.NoError(t, err)
	t.Log("kills", kills, "visits", visits, "slowest", slowest, "events", info.State.LastSeq, "in the log", info.State.Msgs, "latest", st.Latest)
}
