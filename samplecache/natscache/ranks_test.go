//go:build unix

package natscache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

// shaky reports whether err is one that a rank may get whose link is cut.
func shaky(err error) bool {
	for _, is := range []error{samplecache.ErrUnavailable, context.DeadlineExceeded, samplecache.ErrGenerationGone, samplecache.ErrGroup, samplecache.ErrProducerBusy, samplecache.ErrClosed} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// TestRanks has limits, a group whose link stays, and one whose two ranks are cut off, die and come
// back, within the lease and after it, while producers are cut off too. The ratio of both, counted
// outside, stays within the limits, ranks of an epoch have the same generation, and all go on.
func TestRanks(t *testing.T) {
	t.Parallel()
	took := 5 * time.Second
	if longtests.On() {
		took = 40 * time.Second
	}
	const size, samples, minSize, per, least, most = 64, 8, 4, 2, -10, 12
	s := newServer(t)
	config := natscache.Config{Lease: lease}
	config.Samples, config.MaxHold, config.MaxHeld = samples, 3*time.Second, 4
	config.Limits = samplecache.Limits{MinPasses: 1, MaxPasses: 3, PerInsert: per, MinSize: minSize, MinDiff: least, MaxDiff: most}
	require.NoError(t, natscache.Create(soon(t), s.url(), "ranks", marked("", 0, size), config))
	over, stop := context.WithTimeout(t.Context(), took)
	defer stop()
	var started, put, steady, passes, broken, deaths, cuts atomic.Int64
	var all sync.WaitGroup
	var mu sync.Mutex
	generations := map[string]uint64{}
	same := func(group string, epoch, id uint64) {
		mu.Lock()
		defer mu.Unlock()
		key := fmt.Sprint(group, epoch)
		if was, ok := generations[key]; ok && was != id {
			t.Logf("epoch %s has generation %d and %d", key, was, id)
			broken.Add(1)
		}
		generations[key] = id
	}
	cutting := func(k *link) {
		for over.Err() == nil {
			time.Sleep(rand.N(1500 * time.Millisecond))
			k.Cut(true)
			cuts.Add(1)
			if rand.N(3) == 0 {
				time.Sleep(2 * lease)
			} else {
				time.Sleep(rand.N(lease / 2))
			}
			k.Cut(false)
		}
	}
	for i := range 2 { // producers
		k := newLink(t, s.setup.Addr)
		all.Go(func() { cutting(k) })
		all.Go(func() {
			c, err := samplecache.Open(soon(t), natscache.Engine{URL: k.url(), Name: "ranks"}, samplecache.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			name := fmt.Sprint("put", i)
			p := producer(t, c, name)
			for n := uint64(0); over.Err() == nil; n++ {
				started.Add(1)
				for over.Err() == nil {
					ctx, cancel := context.WithTimeout(over, time.Second)
					err := p.PutAt(ctx, n, marked(name, n, size))
					cancel()
					if err == nil {
						put.Add(1)
						break
					}
					if !shaky(err) {
						t.Error("put:", err)
						return
					}
				}
			}
		})
	}
	var epochs [3]atomic.Uint64
	rank := func(group string, world, i int, k *link, counted *atomic.Int64) {
		url := s.url()
		if k != nil {
			url = k.url()
		}
		for over.Err() == nil { // a life of the rank
			ctx, cancel := context.WithTimeout(over, 5*time.Second)
			c, err := samplecache.Open(ctx, natscache.Engine{URL: url, Name: "ranks"}, samplecache.Options{})
			cancel()
			if err != nil {
				if !shaky(err) {
					t.Error("open:", err)
				}
				continue
			}
			g := c.Group(group, world)
			for over.Err() == nil {
				epoch := max(epochs[i].Load()+1, epochs[1].Load()+1, epochs[2].Load()+1) - 1
				if k != nil && rand.N(30) == 0 { // it dies
					deaths.Add(1)
					k.Cut(true)
					break
				}
				ctx, cancel := context.WithTimeout(over, 5*time.Second)
				gen, err := g.Epoch(ctx, epoch)
				if err == nil {
					same(group, epoch, gen.ID())
					for row := i % world; row < samples && err == nil; row += world {
						if _, err = gen.Fetch(ctx, []int{row}, nil); err == nil && counted != nil {
							counted.Add(1)
						}
					}
					if closed := gen.Close(); closed != nil && !shaky(closed) {
						t.Error("close:", closed)
					}
					if err == nil {
						passes.Add(1)
					}
				}
				cancel()
				if err != nil && !shaky(err) {
					t.Errorf("rank %d of %s, epoch %d: %v", i, group, epoch, err)
				}
				if err == nil || errors.Is(err, samplecache.ErrGenerationGone) {
					epochs[i].Store(epoch + 1)
				}
			}
			_ = c.Close()
			if k != nil {
				time.Sleep(rand.N(2 * lease))
				k.Cut(false)
			}
		}
	}
	all.Go(func() { // its epochs are its own
		c := join(t, natscache.Engine{URL: s.url(), Name: "ranks"})
		g := c.Group("steady", 1)
		for epoch := uint64(0); over.Err() == nil; epoch++ {
			gen, err := g.Epoch(over, epoch)
			if err != nil {
				if over.Err() == nil {
					t.Errorf("steady, epoch %d: %v", epoch, err)
				}
				return
			}
			for row := range samples {
				if _, err := gen.Fetch(over, []int{row}, nil); err != nil {
					if over.Err() == nil && !errors.Is(err, samplecache.ErrGenerationGone) {
						t.Errorf("steady, epoch %d: %v", epoch, err)
					}
					break
				}
				n := steady.Add(1)
				if most := per*(started.Load()-minSize) - least; n > most {
					t.Errorf("steady has read %d rows, want at most %d", n, most)
				}
			}
			_ = gen.Close()
		}
	})
	for i := range 2 {
		k := newLink(t, s.setup.Addr)
		all.Go(func() { cutting(k) })
		all.Go(func() { rank("shaky", 2, i+1, k, nil) })
	}
	c := join(t, natscache.Engine{URL: s.url(), Name: "ranks"})
	looks, longest, last, moved := 0, time.Duration(0), uint64(0), time.Now()
	for over.Err() == nil {
		st, err := c.Stats()
		require.NoError(t, err)
		looks++
		if st.Latest != last {
			last, moved = st.Latest, time.Now()
		}
		longest = max(longest, time.Since(moved))
		for _, g := range st.Groups {
			inserts := int64(st.Latest)*samples + int64(st.Committed)
			if d := per*(inserts-minSize) - g.Taken; d > most || per*(inserts+int64(st.Reserved)-minSize)-g.Taken < least {
				t.Errorf("group %s: difference %d, %+v", g.Name, d, st)
			}
		}
		time.Sleep(time.Millisecond)
	}
	all.Wait()
	st, err := c.Stats()
	require.NoError(t, err)
	t.Log("put", put.Load(), "generations", st.Latest, "steady rows", steady.Load(), "passes", passes.Load(), "other generation of an epoch", broken.Load(), "deaths", deaths.Load(), "cuts", cuts.Load(), "looks", looks, "longest wait", longest)
	require.Positive(t, passes.Load())
	require.Less(t, longest, patience)
}
