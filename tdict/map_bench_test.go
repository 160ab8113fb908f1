package tdict_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// mappedFloats makes a dataset of float32 "x" [rows 1024], 4 KiB a row, open to be written.
func mappedFloats(b *testing.B, name string, rows int) *memmap.Dataset {
	b.Helper()
	prototype := dict([]int{rows}, entry{"x", tensor.Must(tensor.Scalar[float32](0).Expand(rows, 1024))})
	ds, err := memmap.Create(filepath.Join(b.TempDir(), name), prototype, memmap.CreateOptions{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ds.Close() })
	return ds
}

// waves is bound by arithmetic: some nanoseconds an element.
func waves(v float32) float32 {
	w := float64(v)
	return float32(math.Sin(w)*math.Sqrt(1+w*w) + math.Log1p(w*w))
}

// rowSums returns the sum of waves of each row.
func rowSums(_ context.Context, chunk dictionary) (dictionary, error) {
	x, err := chunk.Tensor("x")
	if err != nil {
		return nil, err
	}
	sums := make([]float32, chunk.Shape()[0])
	err = tensor.Read(x, func(s []float32) {
		for i, v := range s {
			sums[i/1024] += waves(v)
		}
	})
	if err != nil {
		return nil, err
	}
	out := tdict.New(len(sums))
	return out, out.Set("sum", tensor.Vector(sums...))
}

// allWaves returns waves of each element.
func allWaves(_ context.Context, chunk dictionary) (dictionary, error) {
	return tdict.MapElems(chunk, waves)
}

// A function bound by arithmetic over a mapped dataset: 512 MiB, or 64 MiB with -short. Its results
// are small, or as large as the dataset and written to another one.
func BenchmarkMap(b *testing.B) {
	rows := 128 << 10
	if testing.Short() {
		rows = 16 << 10
	}
	in := mappedFloats(b, "in", rows)
	if err := in.SetIndex(tensor.Scalar[float32](1.5), ix.Range(0, rows/2)); err != nil {
		b.Fatal(err)
	}
	for _, into := range []dictionary{nil, mappedFloats(b, "into", rows).TensorDict} {
		to, fn := "sums", tdict.ChunkFunc(rowSums)
		if into != nil {
			to, fn = "mapped", allWaves
		}
		if _, err := tdict.MapChunks(b.Context(), in.TensorDict, fn, tdict.MapChunksOptions{Into: into}); err != nil { // the files have pages
			b.Fatal(err)
		}
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("to=%s/workers=%d", to, workers), func(b *testing.B) {
				b.SetBytes(int64(rows) * 4096)
				loop(b, func() error {
					_, err := tdict.MapChunks(b.Context(), in.TensorDict, fn, tdict.MapChunksOptions{Workers: workers, Into: into})
					return err
				})
			})
		}
	}
}

// What MapChunks, IterChunks and Vmap cost by themselves, a chunk of one row each.
func BenchmarkChunkCalls(b *testing.B) {
	for _, chunks := range []int{100, 1_000, 10_000} {
		in := dict([]int{chunks}, entry{"a", count(chunks)}, entry{"d/b", count(chunks)})
		ways := map[string]func() error{
			"map": func() error {
				_, err := tdict.MapChunks(b.Context(), in, same, tdict.MapChunksOptions{ChunkSize: 1})
				return err
			},
			"map-into": func() error {
				_, err := tdict.MapChunks(b.Context(), in, same, tdict.MapChunksOptions{ChunkSize: 1, Into: in})
				return err
			},
			"map-iter": func() (last error) {
				for _, err := range tdict.IterChunks(b.Context(), in, same, tdict.IterChunksOptions{ChunkSize: 1}) {
					last = err
				}
				return last
			},
			"vmap": func() error {
				_, err := tdict.Vmap(b.Context(), []dictionary{in}, firstRow, tdict.VmapOptions{})
				return err
			},
		}
		for _, how := range []string{"map", "map-into", "map-iter", "vmap"} {
			b.Run(fmt.Sprintf("how=%s/chunks=%d", how, chunks), func(b *testing.B) { loop(b, ways[how]) })
		}
	}
}

// A tree is built for the price of its dictionaries.
func BenchmarkTree(b *testing.B) {
	for _, leaves := range []int{10, 1_000} {
		td, _ := manyLeaves(leaves)
		list, tree := td.Tree()
		b.Run(fmt.Sprintf("how=tree/leaves=%d", leaves), func(b *testing.B) {
			loop(b, func() error { td.Tree(); return nil })
		})
		b.Run(fmt.Sprintf("how=build/leaves=%d", leaves), func(b *testing.B) {
			loop(b, func() error { _, err := tree.Build(list); return err })
		})
	}
}
