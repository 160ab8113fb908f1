package arith

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkWhere chooses between rows of 64 MB, by masks that are true at random or in runs of 100,
// into given memory. how=loop does the same by hand.
func BenchmarkWhere(b *testing.B) {
	const total = 64 << 20
	for _, row := range []int{4, 64, 4096} {
		n, w := total/row, row/4
		x, y, dst := wide(n, w), wide(n, w), wide(n, w)
		xs, ys, to := items32(x), items32(y), items32(dst)
		for _, kind := range []string{"random", "runs"} {
			mask := maskOf(n, kind)
			bits := tensor.Must(tensor.Of[bool](mask))
			run := func(op, how string, fn func()) {
				b.Run(fmt.Sprintf("op=%s/row=%d/mask=%s/how=%s", op, row, kind, how), func(b *testing.B) {
					b.SetBytes(total)
					for b.Loop() {
						fn()
					}
				})
			}
			run("where", "arith", func() { _ = WhereInto(dst, mask, x, y) })
			run("where", "loop", func() { whereByHand(to, bits, xs, ys, w) })
			run("maskedfill", "arith", func() { _ = MaskedFillInto(dst, x, mask, 7) })
			run("maskedfill", "loop", func() { fillByHand(to, bits, xs, 7, w) })
			run("inplace", "arith", func() { _ = MaskedFillInto(x, x, mask, 7) })
			run("inplace", "loop", func() { fillInPlaceByHand(xs, bits, 7, w) })
		}
	}
}

func wide(n, w int) *tensor.Tensor {
	return tensor.Must(tensor.From(make([]float32, n*w), n, w))
}

func items32(t *tensor.Tensor) []float32 { return tensor.Must(tensor.Of[float32](t)) }

// maskOf returns a mask of n rows, half of them true.
func maskOf(n int, kind string) *tensor.Tensor {
	rng := rand.New(rand.NewPCG(1, 2))
	bits := make([]bool, n)
	for i := range bits {
		if bits[i] = rng.IntN(2) == 0; kind == "runs" {
			bits[i] = i/100%2 == 0
		}
	}
	return tensor.Vector(bits...)
}

func whereByHand(to []float32, mask []bool, x, y []float32, w int) {
	for i, m := range mask {
		switch {
		case w == 1 && m:
			to[i] = x[i]
		case w == 1:
			to[i] = y[i]
		case m:
			copy(to[i*w:(i+1)*w], x[i*w:])
		default:
			copy(to[i*w:(i+1)*w], y[i*w:])
		}
	}
}

func fillByHand(to []float32, mask []bool, x []float32, v float32, w int) {
	for i, m := range mask {
		switch {
		case w == 1 && m:
			to[i] = v
		case w == 1:
			to[i] = x[i]
		case m:
			row := to[i*w : (i+1)*w]
			for j := range row {
				row[j] = v
			}
		default:
			copy(to[i*w:(i+1)*w], x[i*w:])
		}
	}
}

func fillInPlaceByHand(x []float32, mask []bool, v float32, w int) {
	for i, m := range mask {
		if m {
			row := x[i*w : (i+1)*w]
			for j := range row {
				row[j] = v
			}
		}
	}
}
