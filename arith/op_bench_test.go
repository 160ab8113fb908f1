package arith

import (
	"fmt"
	"testing"

	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkElements works on 64 MB of float32, into memory that is there. how=loop is the plain Go
// loop on the same slices.
func BenchmarkElements(b *testing.B) {
	const n = 16 << 20
	x, y, dst := wide(n, 1), wide(n, 1), wide(n, 1)
	xs, ys, to := items32(x), items32(y), items32(dst)
	for i := range xs {
		xs[i], ys[i] = float32(i%100), float32(i%7)
	}
	mask := tensor.Must(tensor.Zeros[bool](n, 1))
	bits := tensor.Must(tensor.Of[bool](mask))
	pixels := tensor.Must(tensor.Zeros[uint8](n, 1))
	bytes := tensor.Must(tensor.Of[uint8](pixels))
	ints, total := tensor.Must(tensor.Zeros[int32](n, 1)), tensor.Must(tensor.Zeros[int32](n, 1))
	is, ts := tensor.Must(tensor.Of[int32](ints)), tensor.Must(tensor.Of[int32](total))
	run := func(op string, loop func(), arith func() error) {
		b.Run(fmt.Sprintf("op=%s/how=loop", op), func(b *testing.B) {
			b.SetBytes(4 * n)
			for b.Loop() {
				loop()
			}
		})
		b.Run(fmt.Sprintf("op=%s/how=arith", op), func(b *testing.B) {
			b.SetBytes(4 * n)
			for b.Loop() {
				if err := arith(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("add", func() { addLoop(to, xs, ys) }, func() error { return AddInto(dst, x, y) })
	run("add number", func() { addOneLoop(to, xs, 3) }, func() error { return AddInto(dst, x, 3) })
	run("mul", func() { mulLoop(to, xs, ys) }, func() error { return MulInto(dst, x, y) })
	run("clamp", func() { clampLoop(to, xs, 10, 50) }, func() error { return ClampInto(dst, x, 10, 50) })
	run("less", func() { lessLoop(bits, xs, 50) }, func() error { return LessInto(mask, x, 50) })
	run("cast scale", func() { scaleLoop(to, bytes, 0.5, -1) }, func() error { return CastScaleInto(dst, pixels, tensor.Float32, 0.5, -1) })
	run("add int32", func() { addLoop(ts, is, is) }, func() error { return AddInto(total, ints, ints) })
}

func addLoop[T int32 | float32](dst, a, b []T) {
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

func addOneLoop(dst, a []float32, v float32) {
	for i := range dst {
		dst[i] = a[i] + v
	}
}

func mulLoop(dst, a, b []float32) {
	for i := range dst {
		dst[i] = a[i] * b[i]
	}
}

func clampLoop(dst, a []float32, low, high float32) {
	for i, v := range a {
		dst[i] = min(max(v, low), high)
	}
}

func lessLoop(dst []bool, a []float32, v float32) {
	for i := range dst {
		dst[i] = a[i] < v
	}
}

func scaleLoop(dst []float32, a []uint8, scale, shift float32) {
	for i, v := range a {
		dst[i] = float32(v)*scale + shift
	}
}
