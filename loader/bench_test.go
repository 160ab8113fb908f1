package loader_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// table returns n rows of float32 under "x", and the slice that they lie in.
func table(t testing.TB, n, features int) (*tdict.TensorDict, []float32) {
	t.Helper()
	data := make([]float32, n*features)
	for i := range data {
		data[i] = float32(i)
	}
	td := tdict.New(n)
	if err := td.Set("x", tensor.Must(tensor.From(data, n, features))); err != nil {
		t.Fatal(err)
	}
	return td, data
}

// BenchmarkEpoch loads epochs of rows in memory, beside a bare loop of copies of the same rows, in
// the same order, into one buffer.
func BenchmarkEpoch(b *testing.B) {
	for _, size := range []struct{ rows, features, batch int }{
		{50_000, 100, 64}, {200_000, 1000, 64}, {200_000, 1000, 4096},
	} {
		td, data := table(b, size.rows, size.features)
		for _, s := range []sampler.Sampler{sampler.Random(), sampler.Sequential()} {
			name := fmt.Sprintf("rows=%d/features=%d/batch=%d/order=%v", size.rows, size.features, size.batch, s)
			b.Run(name+"/how=copy", func(b *testing.B) {
				benchmarkCopy(b, data, size.features, size.batch, s)
			})
			for _, workers := range []int{0, 1, 2} {
				b.Run(fmt.Sprintf("%s/how=loader/workers=%d", name, workers), func(b *testing.B) {
					benchmarkEpoch(b, td, loader.Options{Batch: size.batch, Sampler: s, Seed: 1, Workers: workers})
				})
			}
		}
	}
}

func benchmarkEpoch(b *testing.B, td *tdict.TensorDict, opt loader.Options) {
	l, err := loader.New(must(loader.From(td)), opt)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(td.ByteSize()))
	b.ReportAllocs()
	batches := 0
	for b.Loop() {
		for _, err := range l.Batches(context.Background()) {
			if err != nil {
				b.Fatal(err)
			}
			batches++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(batches), "ns/batch")
}

func benchmarkCopy(b *testing.B, data []float32, features, batch int, s sampler.Sampler) {
	n := len(data) / features
	buffer := make([]float32, batch*features)
	order, err := s.Order(sampler.Epoch{Units: n, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	rows := order.AppendTo(nil, 0, n)
	b.SetBytes(int64(4 * len(data)))
	batches := 0
	for b.Loop() {
		for start := 0; start < n; start += batch {
			for i, row := range rows[start:min(n, start+batch)] {
				copy(buffer[i*features:(i+1)*features], data[row*features:])
			}
			batches++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(batches), "ns/batch")
}

// must returns v unless there is an error.
func must[T any](v T, err error) T { return tensor.Must(v, err) }

// BenchmarkInto loads small batches into memory of the caller's, beside memory of the loader's: how
// much one batch costs.
func BenchmarkInto(b *testing.B) {
	td, _ := table(b, 10_000, 100)
	src := must(loader.From(td))
	memory := must(td.NewZeros(64))
	for _, batch := range []int{1, 63, 64} {
		for _, into := range []bool{false, true} {
			b.Run(fmt.Sprintf("batch=%d/into=%t", batch, into), func(b *testing.B) {
				opt := loader.Options{Batch: batch, Sampler: sampler.Random()}
				if into {
					opt.Into = func(context.Context) (*tdict.TensorDict, error) { return memory, nil }
				}
				l := must(loader.New(src, opt))
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					for _, err := range l.Batches(context.Background()) {
						if err != nil {
							b.Fatal(err)
						}
						n++
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/batch")
			})
		}
	}
}
