package transform_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// BenchmarkStandard fits and applies on 1 Mi float32 elements in some columns.
func BenchmarkStandard(b *testing.B) {
	for _, columns := range []int{1, 8, 1024} {
		td := tdict.New(1 << 20 / columns)
		x := tensor.Must(tensor.Arange[float32](0, 1<<20, 1))
		if err := td.Set("x", tensor.Must(x.Reshape(-1, columns))); err != nil {
			b.Fatal(err)
		}
		s := tensor.Must(transform.FitStandard(td, nil))
		b.Run(fmt.Sprintf("op=fit/columns=%d", columns), func(b *testing.B) {
			b.SetBytes(4 << 20)
			for b.Loop() {
				_ = tensor.Must(transform.FitStandard(td, nil))
			}
		})
		b.Run(fmt.Sprintf("op=apply/columns=%d", columns), func(b *testing.B) {
			b.SetBytes(4 << 20)
			for b.Loop() {
				_ = tensor.Must(s.Apply(td, transform.Draw{}))
			}
		})
	}
}

// BenchmarkDraw draws one number for each row.
func BenchmarkDraw(b *testing.B) {
	for _, rows := range []int{1, 1 << 16} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			td := tdict.New(rows)
			var sum uint64
			for b.Loop() {
				_ = transform.Draw{}.Each(td, func(_ int, r *rand.Rand) { sum += r.Uint64() })
			}
		})
	}
}

// BenchmarkImages crops, flips and scales batches of images of 32x32x3 bytes.
func BenchmarkImages(b *testing.B) {
	scale := transform.CastScale(tensor.Float32, 2./255, -1)
	for _, rows := range []int{256, 4096} {
		td := tdict.New(rows)
		if err := td.Set("image", tensor.Must(tensor.Zeros[uint8](rows, 32, 32, 3))); err != nil {
			b.Fatal(err)
		}
		for op, t := range map[string]transform.Transform{
			"crop": transform.RandomCrop(28, 28),
			"flip": transform.RandomFlip(0.5, 1),
			"all":  transform.Compose(transform.RandomCrop(28, 28), transform.RandomFlip(0.5, 1), scale),
		} {
			b.Run(fmt.Sprintf("op=%s/rows=%d", op, rows), func(b *testing.B) {
				b.SetBytes(int64(rows * 32 * 32 * 3))
				for b.Loop() {
					_ = tensor.Must(t.Apply(td, transform.Draw{}))
				}
			})
		}
	}
}

// BenchmarkLeaves applies a pipeline to dictionaries of many small leaves.
func BenchmarkLeaves(b *testing.B) {
	for _, leaves := range []int{10, 100, 1000, 10000} {
		td := tdict.New(4)
		for i := range leaves {
			if err := td.Set(nestedkey.Join([]nestedkey.Key{"a", "b"}[i%2], nestedkey.Of(fmt.Sprint(i))), tensor.Vector[float32](1, 2, 3, 4)); err != nil {
				b.Fatal(err)
			}
		}
		p := transform.Compose(tensor.Must(transform.FitStandard(td, nil)), transform.OnKeys(transform.FillNaN(0), "a", "b"))
		b.Run(fmt.Sprintf("leaves=%d", leaves), func(b *testing.B) {
			for b.Loop() {
				_ = tensor.Must(p.Apply(td, transform.Draw{}))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*leaves), "ns/leaf")
		})
	}
}
