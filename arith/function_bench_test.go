package arith

import (
	"fmt"
	"math"
	"testing"

	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkFunctions computes functions of 16,384 float64, on one core. how=math is the loop over
// package math.
func BenchmarkFunctions(b *testing.B) {
	const n = 1 << 14
	xs, to := make([]float64, n), make([]float64, n)
	for i := range xs {
		xs[i] = float64(i%1000)/7 + 0.1
	}
	x, dst := tensor.Vector(xs...), tensor.Vector(to...)
	run := func(op string, loop func(), arith func() error) {
		b.Run(fmt.Sprintf("op=%s/how=math", op), func(b *testing.B) {
			b.SetBytes(8 * n)
			for b.Loop() {
				loop()
			}
		})
		b.Run(fmt.Sprintf("op=%s/how=arith", op), func(b *testing.B) {
			b.SetBytes(8 * n)
			for b.Loop() {
				if err := arith(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("log", func() {
		for i, v := range xs {
			to[i] = math.Log(v)
		}
	}, func() error { return LogInto(dst, x) })
	run("exp", func() {
		for i, v := range xs {
			to[i] = math.Exp(v)
		}
	}, func() error { return ExpInto(dst, x) })
	run("pow", func() {
		for i, v := range xs {
			to[i] = math.Pow(v, 1.7)
		}
	}, func() error { return PowInto(dst, x, 1.7) })
}
