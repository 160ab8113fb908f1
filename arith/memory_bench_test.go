package arith_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkMemory tells the least of 20 times of operations of normal numbers into memory that is
// there, in plain copies of as many bytes.
func BenchmarkMemory(b *testing.B) {
	const side = 4096
	rng := rand.New(rand.NewPCG(1, 2))
	numbers := make([]float32, side*side)
	for i := range numbers {
		numbers[i] = float32(rng.NormFloat64())
	}
	x := tensor.Must(tensor.From(numbers, side, side))
	y, dst := tensor.Must(arith.Abs(x)), tensor.Must(x.Clone())
	marks := tensor.Must(tensor.Full(false, side, side))
	short := tensor.Must(x.Cast(tensor.Float16))
	within := func(fn func() error) time.Duration {
		least := time.Hour
		for range 20 {
			began := time.Now()
			require.NoError(b, fn())
			least = min(least, time.Since(began))
		}
		return least
	}
	plain := within(func() error { return dst.CopyFrom(x) })
	for _, v := range []struct {
		name string
		fn   func() error
	}{
		{"add", func() error { return arith.AddInto(dst, x, y) }},
		{"mul", func() error { return arith.MulInto(dst, x, y) }},
		{"add a number", func() error { return arith.AddInto(dst, x, 3) }},
		{"relu", func() error { return arith.ReluInto(dst, x) }},
		{"clamp", func() error { return arith.ClampInto(dst, x, 0, 1) }},
		{"sqrt", func() error { return arith.SqrtInto(dst, y) }},
		{"less than a number", func() error { return arith.LessInto(marks, x, 1) }},
		{"less", func() error { return arith.LessInto(marks, x, y) }},
		{"float16 to float32", func() error { return short.CastInto(dst) }},
		{"float32 to float16", func() error { return x.CastInto(short) }},
		{"sum, last dim", func() error { return testkit.Err(arith.Sum(x, arith.Dims(1))) }},
		{"max, last dim", func() error { return testkit.Err(arith.Max(x, arith.Dims(1))) }},
		{"sum, first dim", func() error { return testkit.Err(arith.Sum(x, arith.Dims(0))) }},
		{"max, first dim", func() error { return testkit.Err(arith.Max(x, arith.Dims(0))) }},
		{"exp", func() error { return arith.ExpInto(dst, x) }},
		{"log", func() error { return arith.LogInto(dst, y) }},
		{"tanh", func() error { return arith.TanhInto(dst, x) }},
		{"sigmoid", func() error { return arith.SigmoidInto(dst, x) }},
	} {
		b.Run("verb="+v.name, func(b *testing.B) {
			for b.Loop() {
				took := within(v.fn)
				b.ReportMetric(took.Seconds()*1e3, "ms")
				b.ReportMetric(float64(took)/float64(plain), "copies")
			}
		})
	}
}
