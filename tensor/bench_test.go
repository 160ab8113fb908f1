package tensor_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

const benchBytes = 64 << 20

// rowsOf returns 64 MB of rows of so many bytes.
func rowsOf(bytes int) *tensor.Tensor {
	return tensor.Must(tensor.From(make([]float32, benchBytes/4), benchBytes/bytes, bytes/4))
}

// BenchmarkReorder is what moves rows of 64 MB into given memory. how=loop does the same by hand,
// how=copy is a plain copy of the bytes.
func BenchmarkReorder(b *testing.B) {
	for _, bytes := range []int{4, 64, 4096} {
		x, dst := rowsOf(bytes), rowsOf(bytes)
		from, to := tensor.Must(tensor.Of[float32](x)), tensor.Must(tensor.Of[float32](dst))
		run := func(op, how string, fn func()) {
			b.Run(fmt.Sprintf("op=%s/row=%d/how=%s", op, bytes, how), func(b *testing.B) {
				b.SetBytes(benchBytes)
				for b.Loop() {
					fn()
				}
			})
		}
		w, n := bytes/4, len(to)/(bytes/4)
		run("copy", "copy", func() { copy(to, from) })
		run("flip", "tensor", func() { _ = shapeops.FlipInto(dst, x, 0) })
		run("flip", "loop", func() {
			if w == 1 {
				for i := range n {
					to[i] = from[n-1-i]
				}
				return
			}
			for i := range n {
				copy(to[i*w:(i+1)*w], from[(n-1-i)*w:])
			}
		})
		run("roll", "tensor", func() { _ = tensor.Must(shapeops.Roll(x, 0, n/3)) })
		run("narrow", "tensor", func() {
			part := tensor.Must(x.Narrow(0, n/4, n/2))
			_ = tensor.Must(dst.Narrow(0, 0, n/2)).CopyFrom(part)
		})
		half := tensor.Must(x.Narrow(0, 0, n/2))
		run("repeat", "tensor", func() { _ = tensor.Must(shapeops.Repeat(half, 2, 1)) })
		run("repeatinterleave", "tensor", func() { _ = tensor.Must(shapeops.RepeatInterleave(half, 0, 2)) })
	}
}

// BenchmarkMaskedSelect picks rows of 64 MB into given memory, by masks that are true at random, in
// runs of 100, or at every other row. how=loop does the same by hand.
func BenchmarkMaskedSelect(b *testing.B) {
	for _, bytes := range []int{4, 64, 4096} {
		for _, kind := range []string{"random", "runs", "turns"} {
			x := rowsOf(bytes)
			mask := maskOf(x.Shape()[0], kind)
			bits := tensor.Must(tensor.Of[bool](mask))
			dst := tensor.Must(x.MaskedSelect(mask))
			from, to, w := tensor.Must(tensor.Of[float32](x)), tensor.Must(tensor.Of[float32](dst)), bytes/4
			b.Run(fmt.Sprintf("row=%d/mask=%s/how=tensor", bytes, kind), func(b *testing.B) {
				b.SetBytes(int64(dst.ByteSize()))
				for b.Loop() {
					_ = x.MaskedSelectInto(dst, mask)
				}
			})
			b.Run(fmt.Sprintf("row=%d/mask=%s/how=loop", bytes, kind), func(b *testing.B) {
				b.SetBytes(int64(dst.ByteSize()))
				for b.Loop() {
					selectByHand(to, from, bits, w)
				}
			})
		}
	}
}

func selectByHand(to, from []float32, bits []bool, w int) {
	n := 0
	for i, bit := range bits {
		if bit && w == 1 {
			to[n] = from[i]
			n++
		} else if bit {
			copy(to[n*w:(n+1)*w], from[i*w:])
			n++
		}
	}
}

// maskOf returns a mask of n rows, half of them true.
func maskOf(n int, kind string) *tensor.Tensor {
	rng := rand.New(rand.NewPCG(1, 2))
	bits := make([]bool, n)
	for i := range bits {
		switch kind {
		case "random":
			bits[i] = rng.IntN(2) == 0
		case "runs":
			bits[i] = i/100%2 == 0
		case "turns":
			bits[i] = i%2 == 0
		}
	}
	return tensor.Vector(bits...)
}

// BenchmarkWindow cuts 64 crops of 56x56 out of uint8 [64 3 64 64]. how=loop does the same by hand.
func BenchmarkWindow(b *testing.B) {
	const n, c, h, w, s = 64, 3, 64, 64, 56
	x := tensor.Must(tensor.New(tensor.Uint8, n, c, h, w))
	rng := rand.New(rand.NewPCG(1, 2))
	list := make([]int64, 2*n)
	for i := range list {
		list[i] = int64(rng.IntN(h - s + 1))
	}
	starts := tensor.Must(tensor.From(list, n, 2))
	dst := tensor.Must(tensor.New(tensor.Uint8, n, c, s, s))
	from, to := tensor.Must(tensor.Of[uint8](x)), tensor.Must(tensor.Of[uint8](dst))
	b.Run("how=fresh", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = shapeops.Window(x, starts, []int{2, 3}, []int{s, s})
		}
	})
	b.Run("how=loop", func(b *testing.B) {
		for b.Loop() {
			at := 0
			for i := range n {
				top, left := int(list[2*i]), int(list[2*i+1])
				for ch := range c {
					for row := range s {
						from := from[((i*c+ch)*h+top+row)*w+left:]
						at += copy(to[at:at+s], from)
					}
				}
			}
		}
	})
}

// BenchmarkGather takes 4096 rows of 4000 bytes by an index tensor, into given memory. how=take
// does so by ix.Take.
func BenchmarkGather(b *testing.B) {
	x := tensor.Must(tensor.New(tensor.Float32, 8192, 1000))
	rng := rand.New(rand.NewPCG(1, 2))
	list, rows := make([]int64, 4096), make([]int, 4096)
	for i := range list {
		rows[i] = rng.IntN(8192)
		list[i] = int64(rows[i])
	}
	index := tensor.Vector(list...)
	dst := tensor.Must(tensor.New(tensor.Float32, 4096, 1000))
	b.Run("how=take", func(b *testing.B) {
		for b.Loop() {
			_ = x.IndexInto(dst, ix.Take(rows...))
		}
	})
	b.Run("how=index", func(b *testing.B) {
		for b.Loop() {
			_ = x.TakeInto(dst, 0, index)
		}
	})
}
