package samplecache_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkPut puts small samples, so that what the cache does besides copying and sums shows.
func BenchmarkPut(b *testing.B) {
	c := join(b, memory(b, samplecache.Config{Samples: 1 << 10}))
	p := producer(b, c, "p")
	sample := marked(1)
	b.Run("how=put", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, p.Put(b.Context(), sample))
		}
	})
	b.Run("how=reserve+abort", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			slot, err := p.Reserve(b.Context())
			require.NoError(b, err)
			require.NoError(b, slot.Sample().UpdateInPlace(sample))
			require.NoError(b, slot.Abort())
		}
	})
}

// BenchmarkGet reads small samples of one generation.
func BenchmarkGet(b *testing.B) {
	for name, verify := range map[string]samplecache.Verify{"first": samplecache.First, "always": samplecache.Always} {
		b.Run("verify="+name, func(b *testing.B) {
			c, err := samplecache.Open(b.Context(), memory(b, samplecache.Config{Samples: 8}), samplecache.Options{Verify: verify})
			require.NoError(b, err)
			defer c.Close()
			p := producer(b, c, "p")
			for i := range int64(8) {
				require.NoError(b, p.Put(b.Context(), marked(i)))
			}
			g := tensor.Must(c.Latest(b.Context()))
			var dst *tdict.TensorDict
			b.ReportAllocs()
			for b.Loop() {
				dst, err = g.Fetch(b.Context(), []int{3, 1, 2, 5}, dst)
				require.NoError(b, err)
			}
		})
	}
}

// TestAllocations bounds what a sample costs that is put, or fetched to where another was.
func TestAllocations(t *testing.T) {
	c := join(t, memory(t, samplecache.Config{Samples: 100}))
	p, sample := producer(t, c, "p"), marked(1)
	put := func() { require.NoError(t, p.Put(t.Context(), sample)) }
	for range 300 {
		put() // until memory is used again
	}
	require.LessOrEqual(t, testing.AllocsPerRun(50, put), 48.)
	g := tensor.Must(c.Latest(t.Context()))
	var dst *tdict.TensorDict
	require.LessOrEqual(t, testing.AllocsPerRun(50, func() {
		var err error
		dst, err = g.Fetch(t.Context(), []int{3, 1}, dst)
		require.NoError(t, err)
	}), 14.)
}
