package pickstack_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// A network is the sizes of one layer: b batch elements, n inputs of p rows of c channels, and a
// rows of output.
type network struct{ b, p, c, a, n int }

// usual is what the figures in docs/benchmarks.md are about.
var usual = network{b: 16, p: 1000, c: 16, a: 5000, n: 4}

// inputs returns tensors of normal random numbers.
func (w network) inputs() []*tensor.Tensor {
	rng := rand.New(rand.NewPCG(1, 2))
	xs := make([]*tensor.Tensor, w.n)
	for i := range xs {
		data := make([]float32, w.b*w.p*w.c)
		for j := range data {
			data[j] = float32(rng.NormFloat64())
		}
		xs[i] = tensor.Must(tensor.From(data, w.b, w.p, w.c))
	}
	return xs
}

func (w network) widths() []int {
	widths := make([]int, w.n)
	for i := range widths {
		widths[i] = w.p
	}
	return widths
}

// pick returns a plan that picks rows at random.
func (w network) pick(workers int) *pickstack.Plan {
	rng := rand.New(rand.NewPCG(3, 4))
	indices := make([]*tensor.Tensor, w.n)
	for i := range indices {
		list := make([]int32, w.a)
		for j := range list {
			list[j] = rng.Int32N(int32(w.p))
		}
		indices[i] = tensor.Vector(list...)
	}
	return tensor.Must(pickstack.NewPick(indices, w.widths(), pickstack.PickOptions{Workers: workers}))
}

// pool returns a plan of pools of 1 to 9 rows, 5 on average.
func (w network) pool(opt pickstack.PoolOptions) *pickstack.Plan {
	rng := rand.New(rand.NewPCG(5, 6))
	pools := make([]*ragged.Tensor, w.n)
	for i := range pools {
		lengths, values := make([]int64, w.a), []int32{}
		for j := range lengths {
			lengths[j] = 1 + rng.Int64N(9)
			for range lengths[j] {
				values = append(values, rng.Int32N(int32(w.p)))
			}
		}
		pools[i] = tensor.Must(ragged.FromLengths(tensor.Vector(values...), lengths))
	}
	return tensor.Must(pickstack.NewPool(pools, w.widths(), opt))
}

func (w network) bytes() int64 { return int64(w.b) * int64(w.a) * int64(w.n) * int64(w.c) * 4 }

// run measures a plan forward or backward into tensors that are there.
func (w network) run(b *testing.B, p *pickstack.Plan, backward bool) {
	xs := w.inputs()
	out := tensor.Must(p.Forward(xs...))
	dxs := tensor.Must(p.Gradient(out, xs...))
	b.SetBytes(w.bytes())
	b.ReportAllocs()
	for b.Loop() {
		if err := func() error {
			if backward {
				return p.GradientInto(dxs, out, xs...)
			}
			return p.ForwardInto(out, xs...)
		}(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCopy is what the others are compared with: as many bytes as the output has, copied in
// runs of the channels of an input.
func BenchmarkCopy(b *testing.B) {
	src, dst := make([]float32, usual.bytes()/4), make([]float32, usual.bytes()/4)
	b.SetBytes(usual.bytes())
	for b.Loop() {
		for i := 0; i < len(dst); i += usual.c {
			copy(dst[i:i+usual.c], src[i:i+usual.c])
		}
	}
}

func BenchmarkPick(b *testing.B) {
	for _, workers := range []int{1, 2} {
		for _, backward := range []bool{false, true} {
			b.Run(fmt.Sprintf("workers=%d/backward=%v", workers, backward), func(b *testing.B) {
				usual.run(b, usual.pick(workers), backward)
			})
		}
	}
}

func BenchmarkPool(b *testing.B) {
	for _, reduction := range []pickstack.Reduction{pickstack.Max, pickstack.Mean, pickstack.LogSumExp} {
		for _, workers := range []int{1, 2} {
			for _, backward := range []bool{false, true} {
				b.Run(fmt.Sprintf("reduction=%v/workers=%d/backward=%v", reduction, workers, backward), func(b *testing.B) {
					opt := pickstack.PoolOptions{Reduction: reduction, Workers: workers}
					if reduction == pickstack.Max {
						opt.MinValue = new(-1.0)
					}
					usual.run(b, usual.pool(opt), backward)
				})
			}
		}
	}
}

// BenchmarkRows shows that time grows as the output does.
func BenchmarkRows(b *testing.B) {
	for _, rows := range []int{500, 5000, 50000} {
		w := usual
		w.a = rows
		for _, backward := range []bool{false, true} {
			b.Run(fmt.Sprintf("op=pick/a=%d/backward=%v", rows, backward), func(b *testing.B) { w.run(b, w.pick(1), backward) })
			b.Run(fmt.Sprintf("op=max/a=%d/backward=%v", rows, backward), func(b *testing.B) {
				w.run(b, w.pool(pickstack.PoolOptions{Workers: 1}), backward)
			})
		}
	}
}
