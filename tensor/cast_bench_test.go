package tensor_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkCast casts numbers below 256 into 64 MB of given memory. how=loop does the same by hand,
// without the rules for what does not fit.
func BenchmarkCast(b *testing.B) {
	castBench(b, func(to []float32, from []uint8) {
		for i, v := range from {
			to[i] = float32(v)
		}
	})
	castBench(b, func(to []float32, from []tensor.F16) {
		for i, v := range from {
			to[i] = v.Float32()
		}
	})
	castBench(b, func(to []tensor.F16, from []float32) {
		for i, v := range from {
			to[i] = tensor.F16Of(float64(v))
		}
	})
	castBench(b, func(to []int32, from []float64) {
		for i, v := range from {
			to[i] = int32(v)
		}
	})
	castBench(b, func(to []uint8, from []int64) {
		for i, v := range from {
			to[i] = uint8(v)
		}
	})
}

func castBench[S, D tensor.Elem](b *testing.B, loop func(to []D, from []S)) {
	dst := tensor.Must(tensor.New(tensor.DTypeOf[D](), benchBytes/tensor.DTypeOf[D]().Size()))
	src := tensor.Must(tensor.Must(randomBytes(dst.Size())).Cast(tensor.DTypeOf[S]()))
	to, from := tensor.Must(tensor.Of[D](dst)), tensor.Must(tensor.Of[S](src))
	run := func(how string, fn func()) {
		b.Run(fmt.Sprintf("from=%v/to=%v/how=%s", src.DType(), dst.DType(), how), func(b *testing.B) {
			b.SetBytes(benchBytes)
			b.ReportAllocs()
			for b.Loop() {
				fn()
			}
		})
	}
	run("loop", func() { loop(to[:len(from)], from) })
	run("cast", func() {
		if err := src.CastInto(dst); err != nil {
			b.Fatal(err)
		}
	})
}

func randomBytes(n int) (*tensor.Tensor, error) {
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([]uint8, n)
	for i := range all {
		all[i] = uint8(rng.Uint32())
	}
	return tensor.From(all, n)
}

// BenchmarkMap calls a function for 16 million elements. how=loop does the same by hand; both make
// the result.
func BenchmarkMap(b *testing.B) {
	x := tensor.Must(randomBytes(benchBytes / 4))
	xs := tensor.Must(tensor.Of[uint8](x))
	run := func(how string, fn func()) {
		b.Run("how="+how, func(b *testing.B) {
			b.SetBytes(benchBytes)
			for b.Loop() {
				fn()
			}
		})
	}
	one := func(v uint8) float32 { return float32(v) }
	run("loop", func() { mapLoop(xs, one) })
	run("map", func() { _, _ = tensor.Map(x, one) })
}

//go:noinline
func mapLoop(x []uint8, fn func(uint8) float32) []float32 {
	to := make([]float32, len(x))
	for i, v := range x {
		to[i] = fn(v)
	}
	return to
}
