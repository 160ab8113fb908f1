package natscache_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestHeldOfAnyAge holds generations for up to 40 generations, while others are removed, by number
// and by subject. Each is read whole when it is let go, and nothing is left of those that are gone.
func TestHeldOfAnyAge(t *testing.T) {
	t.Parallel()
	const size, samples = 3000, 3
	generations := uint64(60)
	if longtests.On() {
		generations = 1500
	}
	s := newServer(t)
	config := natscache.Config{Lease: lease}
	config.Samples, config.Retain, config.MaxHeld = samples, -1, 64
	require.NoError(t, natscache.Create(soon(t), s.url(), "held", marked("", 0, size), config))
	var all sync.WaitGroup
	for i := range 3 { // each has its process
		c := join(t, natscache.Engine{URL: newLink(t, s.setup.Addr).url(), Name: "held"})
		all.Go(func() {
			p := producer(t, c, fmt.Sprint("put", i))
			var held []*samplecache.Generation
			reads := 0
			for {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				_ = p.PutAt(ctx, p.Next(), marked(fmt.Sprint("put", i), p.Next(), size)) // it may be blocked
				cancel()
				g, err := c.Latest(t.Context())
				if err != nil {
					continue // there is none yet
				}
				held = append(held, g)
				for len(held) > rand.N(40) || len(held) > 0 && held[0].ID()+40 < held[len(held)-1].ID() {
					n := rand.N(len(held))
					if _, err := whole(held[n], size); err != nil {
						t.Errorf("generation %d, held at %d: %v", held[n].ID(), g.ID(), err)
					}
					reads++
					_ = held[n].Close()
					held = append(held[:n], held[n+1:]...)
				}
				if g.ID() >= generations {
					break
				}
			}
			for _, g := range held {
				if _, err := whole(g, size); err != nil {
					t.Error(err)
				}
				_ = g.Close()
			}
			t.Log(reads, "reads")
		})
	}
	all.Wait()
	js := admin(t, s.url())
	data, err := js.Stream(soon(t), "tdcache_held_data")
	require.NoError(t, err)
	eventually(t, patience, "only the latest generation is left", func() bool {
		info, err := data.Info(soon(t), jetstream.WithSubjectFilter("tdcache.held.rows.>"))
		require.NoError(t, err)
		return len(info.State.Subjects) <= 2*samples
	})
}

// TestMirrorOf mirrors samples of unusual schemas.
func TestMirrorOf(t *testing.T) {
	t.Parallel()
	many := tdict.Entries{}
	for i := range 300 {
		many[nestedkey.Key(fmt.Sprint("leaf", i))] = tensor.Scalar(int64(i))
	}
	for name, x := range map[string]struct {
		entries tdict.Entries
		retain  int
		held    int
	}{
		"no bytes":    {tdict.Entries{"none": tensor.Must(tensor.New(tensor.Int8, 0))}, 0, 0},
		"many leaves": {many, 0, 0},
		"Retain -1":   {tdict.Entries{"n": tensor.Scalar(int64(7))}, -1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema := tensor.Must(tdict.FromMap(nil, x.entries))
			e := newCache(t, newServer(t).url(), schema, samplecache.Config{Samples: 4, Retain: x.retain, MaxHeld: x.held})
			p := producer(t, open(t, e), "gen")
			e.Mirror = filepath.Join(t.TempDir(), "mirror")
			defer mirror(t, e, e.Mirror)()
			reader := open(t, e)
			var before *samplecache.Generation
			for range 12 {
				for range 4 {
					require.NoError(t, p.Put(soon(t), schema))
				}
				g, err := reader.Latest(soon(t))
				require.NoError(t, err)
				for _, g := range []*samplecache.Generation{g, before} {
					if g == nil {
						continue
					}
					td, err := g.Fetch(soon(t), []int{0, 3}, nil)
					require.NoError(t, err)
					one, err := td.Index(ix.At(1))
					require.NoError(t, err)
					require.True(t, one.Equal(schema))
				}
				if before != nil {
					require.NoError(t, before.Close())
				}
				before = g
			}
			require.NoError(t, before.Close())
		})
	}
}
