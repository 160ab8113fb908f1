package arith

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-tensordict/tensordict/tensor"
)

// random returns n numbers between 0 and 1 of which each run of the program makes the same.
func random[T float32 | float64](n int) []T {
	r := rand.New(rand.NewPCG(1, 2))
	s := make([]T, n)
	for i := range s {
		s[i] = T(r.Float64())
	}
	return s
}

// randomIDs returns n numbers from 0 up to but not including groups.
func randomIDs(n, groups int) []int64 {
	r := rand.New(rand.NewPCG(3, 4))
	s := make([]int64, n)
	for i := range s {
		s[i] = r.Int64N(int64(groups))
	}
	return s
}

// benchmarkInto measures sortInto or argSortInto of src along a dim.
func benchmarkInto(b *testing.B, into func(dst, src *tensor.Tensor, dim int, descending bool) error, d tensor.DType, src *tensor.Tensor, dim int) {
	dst := tensor.Must(tensor.New(d, src.Shape()...))
	b.SetBytes(int64(src.ByteSize()))
	b.ReportAllocs()
	for b.Loop() {
		if err := into(dst, src, dim, false); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSort has the standard library's sort of the same numbers beside it.
func BenchmarkSort(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000, 10_000_000} {
		s := random[float32](n)
		b.Run(fmt.Sprintf("by=slices/n=%d", n), func(b *testing.B) {
			dst := make([]float32, n)
			b.SetBytes(int64(4 * n))
			for b.Loop() {
				copy(dst, s)
				slices.Sort(dst)
			}
		})
		b.Run(fmt.Sprintf("by=sort/n=%d", n), func(b *testing.B) {
			benchmarkInto(b, sortInto, tensor.Float32, tensor.Vector(s...), 0)
		})
		b.Run(fmt.Sprintf("by=argsort/n=%d", n), func(b *testing.B) {
			benchmarkInto(b, argSortInto, tensor.Int64, tensor.Vector(s...), 0)
		})
	}
}

// BenchmarkSortDType measures other widths, and numbers that are sorted already.
func BenchmarkSortDType(b *testing.B) {
	const n = 1_000_000
	x := tensor.Vector(random[float64](n)...)
	sorted := tensor.Must(tensor.Arange(0, float32(n), 1))
	b.Run("dtype=float64", func(b *testing.B) { benchmarkInto(b, sortInto, tensor.Float64, x, 0) })
	b.Run("dtype=float16", func(b *testing.B) {
		benchmarkInto(b, sortInto, tensor.Float16, tensor.Must(x.Cast(tensor.Float16)), 0)
	})
	b.Run("dtype=int64", func(b *testing.B) {
		benchmarkInto(b, sortInto, tensor.Int64, tensor.Vector(randomIDs(n, 1000)...), 0)
	})
	b.Run("dtype=float32/sorted=true", func(b *testing.B) { benchmarkInto(b, sortInto, tensor.Float32, sorted, 0) })
	b.Run("op=argsort/dtype=float64", func(b *testing.B) { benchmarkInto(b, argSortInto, tensor.Int64, x, 0) })
}

// BenchmarkSortDim sorts the same matrices along both dims.
func BenchmarkSortDim(b *testing.B) {
	const n = 1 << 20
	for _, width := range []int{64, 1024} {
		x := tensor.Must(tensor.From(random[float32](n), n/width, width))
		for _, dim := range []int{0, 1} {
			b.Run(fmt.Sprintf("width=%d/dim=%d", width, dim), func(b *testing.B) {
				benchmarkInto(b, sortInto, tensor.Float32, x, dim)
			})
		}
	}
}

// BenchmarkFewKeys has lines as long as fewKeys, where a line may be sorted either way.
func BenchmarkFewKeys(b *testing.B) {
	for _, n := range []int{16, 64, 256, fewKeys, fewKeys + 1, 1024, 4096} {
		x := tensor.Must(tensor.From(random[float32](1<<20/n*n), 1<<20/n, n))
		b.Run(fmt.Sprintf("op=sort/n=%d", n), func(b *testing.B) { benchmarkInto(b, sortInto, tensor.Float32, x, 1) })
		b.Run(fmt.Sprintf("op=argsort/n=%d", n), func(b *testing.B) { benchmarkInto(b, argSortInto, tensor.Int64, x, 1) })
	}
}

// BenchmarkGroupBy groups by one column, and by two of which the second tells most rows apart.
func BenchmarkGroupBy(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		ids, times := tensor.Vector(randomIDs(n, 1000)...), tensor.Vector(random[float64](n)...)
		for columns, list := range [][]*tensor.Tensor{nil, {ids}, {ids, times}} {
			if columns == 0 {
				continue
			}
			b.Run(fmt.Sprintf("columns=%d/n=%d", columns, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := GroupBy(list...); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkUnique finds rows of which each occurs about twice.
func BenchmarkUnique(b *testing.B) {
	const n = 100_000
	for _, width := range []int{1, 16, 256} {
		rows := tensor.Must(tensor.From(random[float32](n/2*width), n/2, width))
		twice := tensor.Must(tensor.Vector(randomIDs(n, n/2)...).AsIndex())
		x := tensor.Must(rows.Index(twice))
		b.Run(fmt.Sprintf("width=%d", width), func(b *testing.B) {
			b.SetBytes(int64(x.ByteSize()))
			for b.Loop() {
				if _, err := Unique(x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
