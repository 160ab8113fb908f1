package feed_test

import (
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkEpoch is an epoch of 50,000 rows of 1000 float32 in random order: how=loader is the loop
// over the loader, and how=feed a consumer in this process. bench/dataloader has slots without a
// feed, and consumers in Python.
func BenchmarkEpoch(b *testing.B) {
	const n = 50_000
	src, err := loader.FromTensors(tensor.Must(tensor.From(make([]float32, n*1000), n, 1000)))
	require.NoError(b, err)
	for _, batch := range []int{64, 4096} {
		for _, workers := range []int{0, 1, 2} {
			opt := loader.Options{Batch: batch, Sampler: sampler.Random(), Workers: workers}
			name := fmt.Sprintf("batch=%d/workers=%d", batch, workers)
			b.Run(name+"/how=loader", func(b *testing.B) { benchmarkLoader(b, src, opt, n) })
			b.Run(name+"/how=feed", func(b *testing.B) { benchmarkFeed(b, src, opt, n) })
		}
	}
}

// epochs measures epochs of n rows of a loop.
func epochs(b *testing.B, n int, batches iter.Seq2[*tdict.TensorDict, error]) {
	b.SetBytes(int64(n) * 4000)
	b.ReportAllocs()
	count := 0
	for b.Loop() {
		for _, err := range batches {
			if err != nil {
				b.Fatal(err)
			}
			count++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(count), "µs/batch")
}

func benchmarkLoader(b *testing.B, src loader.Source, opt loader.Options, n int) {
	l, err := loader.New(src, opt)
	require.NoError(b, err)
	epochs(b, n, l.Batches(b.Context()))
}

func benchmarkFeed(b *testing.B, src loader.Source, opt loader.Options, n int) {
	s := serve(b, src, feed.Options{Loader: opt})
	c := dial(b, s.path, feed.DialOptions{})
	epochs(b, n, c.Batches(b.Context()))
}
