package dircache_test

import (
	"context"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Caches lie in the temporary directory: TMPDIR=/dev/shm measures tmpfs.

// benchLeaf is how many bytes each of the two leaves of a large sample has.
const benchLeaf = 16 << 20

// benchSample returns a sample of so many leaves of so many bytes each, whose numbers differ.
func benchSample(b *testing.B, leaves, size int) *tdict.TensorDict {
	b.Helper()
	td := tdict.New()
	for i := range leaves {
		x := make([]uint8, size)
		for j := range x {
			x[j] = uint8(j*j + i)
		}
		key := nestedkey.Key(fmt.Sprintf("leaf%d", i))
		require.NoError(b, td.Set(key, tensor.Must(tensor.From(x, size))))
	}
	return td
}

// benchCreate makes a cache.
func benchCreate(b *testing.B, sample *tdict.TensorDict, config samplecache.Config) (dir string) {
	b.Helper()
	dir = filepath.Join(b.TempDir(), "cache")
	require.NoError(b, dircache.Create(dir, sample, config))
	return dir
}

// benchOpen joins a cache until the benchmark ends.
func benchOpen(b *testing.B, dir string, verify samplecache.Verify) *samplecache.Cache {
	b.Helper()
	c, err := samplecache.Open(b.Context(), dircache.Engine{Dir: dir}, samplecache.Options{
		Verify: verify, OnError: func(err error) { b.Error(err) },
	})
	require.NoError(b, err)
	b.Cleanup(func() { _ = c.Close() }) // ErrClosed if the benchmark did
	return c
}

// benchProducer returns a producer.
func benchProducer(b *testing.B, c *samplecache.Cache, name string) *samplecache.Producer {
	b.Helper()
	p, err := c.Producer(name)
	require.NoError(b, err)
	return p
}

// benchPut puts a sample so many times.
func benchPut(b *testing.B, p *samplecache.Producer, sample *tdict.TensorDict, times int) {
	b.Helper()
	for range times {
		if err := p.Put(context.Background(), sample); err != nil {
			b.Fatal(err)
		}
	}
}

// benchCommit reserves a slot, has fn write the sample, and commits it.
func benchCommit(b *testing.B, p *samplecache.Producer, fn func(sample *tdict.TensorDict) error) {
	b.Helper()
	s, err := p.Reserve(context.Background())
	if err == nil {
		err = fn(s.Sample())
	}
	if err == nil {
		err = s.Commit(context.Background())
	}
	if err != nil {
		b.Fatal(err)
	}
}

// benchQuantiles reports the median, the 99th percentile and the greatest of some times.
func benchQuantiles(b *testing.B, what string, all []time.Duration) {
	b.Helper()
	require.NotEmpty(b, all)
	slices.Sort(all)
	for _, q := range []struct {
		name string
		at   int
	}{{"p50", len(all) / 2}, {"p99", len(all) * 99 / 100}, {"max", len(all) - 1}} {
		b.ReportMetric(float64(all[q.at].Nanoseconds())/1e3, q.name+"-"+what+"-us")
	}
}

// BenchmarkPut puts samples of 32 MiB through mappings that were used before, beside copying the
// same bytes to as many mapped files that are there. It is to reach 0.3 of the bare copy, and 0.9
// if there were no sums, which how=reserve+write+abort shows.
func BenchmarkPut(b *testing.B) {
	const samples, rounds = 4, 3
	sample := benchSample(b, 2, benchLeaf)
	dir := benchCreate(b, sample, samplecache.Config{Samples: samples})
	c := benchOpen(b, dir, samplecache.First)
	p := benchProducer(b, c, "gen")
	benchPut(b, p, sample, rounds*samples)
	write := func(to *tdict.TensorDict) error { return to.UpdateInPlace(sample) }
	run := func(how string, fn func(i int)) {
		b.Run("how="+how, func(b *testing.B) {
			b.SetBytes(2 * benchLeaf)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				fn(i)
			}
		})
	}
	to := benchMapped(b, rounds*samples, sample)
	run("copy", func(i int) { to[i%len(to)].copy() })
	run("copy+sum", func(i int) { to[i%len(to)].copySum() })
	run("put", func(int) { benchPut(b, p, sample, 1) })
	run("put-slot", func(int) { benchCommit(b, p, write) })
	for tensor.Must(c.Stats()).Committed > 0 {
		benchPut(b, p, sample, 1)
	}
	var open []*samplecache.Slot // of a generation that is empty else, so that each is another
	run("reserve+write+abort", func(int) {
		s := tensor.Must(p.Reserve(context.Background()))
		require.NoError(b, write(s.Sample()))
		if open = append(open, s); len(open) == samples {
			benchAbort(b, open)
			open = nil
		}
	})
	benchAbort(b, open)
}

// benchAbort gives slots back.
func benchAbort(b *testing.B, slots []*samplecache.Slot) {
	b.Helper()
	for _, s := range slots {
		require.NoError(b, s.Abort())
	}
}

// A benchFile is a mapped file, and what is copied there.
type benchFile struct{ to, from []byte }

// benchMapped returns so many mapped files of a sample's size each, all of which were written to.
func benchMapped(b *testing.B, n int, sample *tdict.TensorDict) (files []benchFile) {
	b.Helper()
	var from []byte
	for _, x := range sample.Tensors() {
		from = append(from, tensor.Must(tensor.Of[uint8](x))...)
	}
	for i := range n {
		f, err := os.Create(filepath.Join(b.TempDir(), fmt.Sprint(i)))
		require.NoError(b, err)
		_, err = f.Write(from)
		require.NoError(b, err)
		m, err := mapping.Map(f, len(from), mapping.ReadWrite)
		require.NoError(b, err)
		require.NoError(b, f.Close())
		b.Cleanup(func() { _ = m.Close() })
		files = append(files, benchFile{tensor.Must(m.Pin()), from})
		files[i].copy()
	}
	return files
}

func (f benchFile) copy() { copy(f.to, f.from) }

// benchSum keeps sums from being left out.
var benchSum uint32

func (f benchFile) copySum() {
	f.copy()
	benchSum = crc32.ChecksumIEEE(f.to)
}

// BenchmarkGet fetches samples of 32 MiB into memory that is there, beside copying the same mapped
// bytes to the same memory. It is to reach 0.9 of the copy once rows are verified, and 0.3 at
// first, which Always repeats. A slice is to copy nothing.
func BenchmarkGet(b *testing.B) {
	const samples = 4
	sample := benchSample(b, 2, benchLeaf)
	dir := benchCreate(b, sample, samplecache.Config{Samples: samples})
	benchPut(b, benchProducer(b, benchOpen(b, dir, samplecache.First), "gen"), sample, samples)
	hows := []struct {
		name   string
		verify samplecache.Verify
	}{{"verified", samplecache.First}, {"first", samplecache.Always}, {"never", samplecache.Never}}
	for _, how := range hows {
		g := tensor.Must(benchOpen(b, dir, how.verify).Latest(b.Context()))
		dst := tensor.Must(g.Fetch(b.Context(), []int{0}, nil))
		for row := range samples {
			tensor.Must(g.Fetch(b.Context(), []int{row}, dst))
		}
		if how.verify == samplecache.First {
			b.Run("how=copy", func(b *testing.B) { benchCopyOut(b, g, dst) })
			b.Run("how=slice", func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					tensor.Must(g.Slice(i%samples, i%samples+1))
				}
			})
		}
		b.Run("how="+how.name, func(b *testing.B) {
			b.SetBytes(2 * benchLeaf)
			b.ReportAllocs()
			rows := []int{0}
			for i := 0; b.Loop(); i++ {
				rows[0] = i % samples
				tensor.Must(g.Fetch(context.Background(), rows, dst))
			}
		})
	}
}

// benchCopyOut copies rows of a generation by hand.
func benchCopyOut(b *testing.B, g *samplecache.Generation, dst *tdict.TensorDict) {
	all := tensor.Must(g.Slice(0, g.Len()))
	var from, to [][]byte
	for key := range dst.Leaves() {
		from = append(from, tensor.Must(tdict.Slice[uint8](all, key)))
		to = append(to, tensor.Must(tdict.Slice[uint8](dst, key)))
	}
	b.SetBytes(2 * benchLeaf)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for leaf := range from {
			copy(to[leaf], from[leaf][i%g.Len()*benchLeaf:][:benchLeaf])
		}
	}
}

// BenchmarkSwap fills and publishes generations of tiny samples. What the swap itself takes, by
// Stats, is to be at most 1 ms with 1,000 samples; an operation is a whole generation.
func BenchmarkSwap(b *testing.B) {
	for _, samples := range []int{10, 100, 1000, 10_000} {
		b.Run(fmt.Sprintf("C=%d", samples), func(b *testing.B) {
			sample := benchSample(b, 1, 8)
			c := benchOpen(b, benchCreate(b, sample, samplecache.Config{Samples: samples}), samplecache.First)
			p := benchProducer(b, c, "gen")
			var took []time.Duration
			for b.Loop() {
				benchPut(b, p, sample, samples)
				took = append(took, tensor.Must(c.Stats()).SwapTook)
			}
			benchQuantiles(b, "swap", took)
		})
	}
}
