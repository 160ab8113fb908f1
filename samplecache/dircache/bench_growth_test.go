package dircache_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkGrowth is what operations take as one count grows, others being small: samples of a
// generation, members, names of producers, groups, leaves of a sample.
func BenchmarkGrowth(b *testing.B) {
	const samples = 100
	small := benchSample(b, 1, 8)
	for _, n := range []int{100, 1000, 10_000, 100_000} {
		benchGrown(b, "samples", n, small, n, nil)
	}
	for _, n := range []int{1, 10, 100} {
		benchGrown(b, "members", n, small, samples, func(b *testing.B, dir string, _ *samplecache.Cache) {
			for range n - 1 {
				benchOpen(b, dir, samplecache.First)
			}
		})
	}
	for _, n := range []int{1, 10, 1000, 4094} {
		benchGrown(b, "names", n, small, samples, func(b *testing.B, _ string, c *samplecache.Cache) {
			for i := range n {
				benchProducer(b, c, fmt.Sprint("another-", i))
			}
		})
	}
	for _, n := range []int{1, 8, 63} {
		benchGrown(b, "groups", n, small, samples, func(b *testing.B, _ string, c *samplecache.Cache) {
			for i := range n {
				benchEpoch(b, c.Group(fmt.Sprint("another-", i), 1), 0)
			}
		})
	}
	for _, n := range []int{1, 10, 100, 1000} {
		benchGrown(b, "leaves", n, benchSample(b, n, 8), samples, nil)
	}
}

// benchGrown benchmarks each operation with a cache of its own, in which one generation is
// published, and which prepare has made large.
func benchGrown(b *testing.B, what string, n int, sample *tdict.TensorDict, samples int,
	prepare func(b *testing.B, dir string, c *samplecache.Cache)) {
	for _, op := range benchOps {
		b.Run(fmt.Sprintf("%s=%d/op=%s", what, n, op.name), func(b *testing.B) {
			dir := benchCreate(b, sample, samplecache.Config{Samples: samples})
			c := benchOpen(b, dir, samplecache.First)
			p := benchProducer(b, c, "gen")
			benchPut(b, p, sample, samples)
			if prepare != nil {
				prepare(b, dir, c)
			}
			b.ReportAllocs()
			op.run(b, benchRoom{dir, c, p, sample, samples})
		})
	}
}

// A benchRoom is what an operation is benchmarked with.
type benchRoom struct {
	dir     string
	cache   *samplecache.Cache
	p       *samplecache.Producer
	sample  *tdict.TensorDict
	samples int
}

var benchOps = []struct {
	name string
	run  func(b *testing.B, r benchRoom)
}{
	{"reserve+abort", func(b *testing.B, r benchRoom) {
		for b.Loop() {
			require.NoError(b, tensor.Must(r.p.Reserve(context.Background())).Abort())
		}
	}},
	{"put", func(b *testing.B, r benchRoom) { // with its share of publishing
		for b.Loop() {
			benchPut(b, r.p, r.sample, 1)
		}
	}},
	{"publish", func(b *testing.B, r benchRoom) {
		var took []time.Duration
		for b.Loop() {
			benchPut(b, r.p, r.sample, r.samples)
			took = append(took, tensor.Must(r.cache.Stats()).SwapTook)
		}
		benchQuantiles(b, "swap", took)
	}},
	{"latest", func(b *testing.B, r benchRoom) { // which nobody else has open
		for b.Loop() {
			require.NoError(b, tensor.Must(r.cache.Latest(context.Background())).Close())
		}
	}},
	{"stats", func(b *testing.B, r benchRoom) {
		for b.Loop() {
			tensor.Must(r.cache.Stats())
		}
	}},
	{"join", func(b *testing.B, r benchRoom) {
		for b.Loop() {
			c, err := samplecache.Open(context.Background(), dircache.Engine{Dir: r.dir}, samplecache.Options{})
			require.NoError(b, err)
			require.NoError(b, c.Close())
		}
	}},
	{"claim", func(b *testing.B, r benchRoom) {
		for b.Loop() {
			require.NoError(b, benchProducer(b, r.cache, "claimed").Close())
		}
	}},
	{"epoch", func(b *testing.B, r benchRoom) {
		g := r.cache.Group("read", 1)
		for n := uint64(0); b.Loop(); n++ {
			benchEpoch(b, g, n)
		}
	}},
}

// benchEpoch begins and ends an epoch of a group.
func benchEpoch(b *testing.B, g *samplecache.Group, epoch uint64) {
	b.Helper()
	gen, err := g.Epoch(context.Background(), epoch)
	require.NoError(b, err)
	require.NoError(b, gen.Close())
}
