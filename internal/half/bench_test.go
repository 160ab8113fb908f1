package half_test

import (
	"math/rand/v2"
	"testing"

	"github.com/go-tensordict/tensordict/internal/half"
)

// BenchmarkHalf converts 65,536 numbers of a normal distribution between slices that stay in
// cache. Bytes are those of the wide side.
func BenchmarkHalf(b *testing.B) {
	const n = 1 << 16
	rng := rand.New(rand.NewPCG(1, 2))
	wide, wider := make([]float32, n), make([]float64, n)
	f16, bf16 := make([]uint16, n), make([]uint16, n)
	for i := range wide {
		wider[i] = rng.NormFloat64()
		wide[i] = float32(wider[i])
	}
	half.NarrowF16(f16, wide)
	half.NarrowBF16(bf16, wide)
	ints, out := make([]int32, n), make([]uint16, n)
	run := func(name string, bytes int64, fn func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(bytes)
			for b.Loop() {
				fn()
			}
		})
	}
	run("op=widen/format=float16", 4*n, func() { half.WidenF16(wide, f16) })
	run("op=widen/format=bfloat16", 4*n, func() { half.WidenBF16(wide, bf16) })
	run("op=narrow/from=float32/format=float16", 4*n, func() { half.NarrowF16(out, wide) })
	run("op=narrow/from=float32/format=bfloat16", 4*n, func() { half.NarrowBF16(out, wide) })
	run("op=narrow/from=float64/format=float16", 8*n, func() { half.NarrowF16(out, wider) })
	run("op=narrow/from=float64/format=bfloat16", 8*n, func() { half.NarrowBF16(out, wider) })
	run("op=narrow/from=int32/format=float16", 4*n, func() { half.NarrowF16(out, ints) })
}
