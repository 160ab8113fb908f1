package pickstack_test

import (
	"math"
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/tensor"
)

// A drawer draws numbers.
type drawer struct{ *rand.Rand }

func newDrawer(seed uint64) drawer { return drawer{rand.New(rand.NewPCG(seed, 1))} }

func one[T any](d drawer, list []T) T { return list[d.IntN(len(list))] }

// A way is what a problem does to pools.
type way struct {
	name      string
	pick      bool
	reduction pickstack.Reduction
}

// ways are all of them.
func ways() []way {
	out := []way{{"pick", true, pickstack.Max}}
	for _, r := range reductions {
		out = append(out, way{r.String(), false, r})
	}
	return out
}

// some numbers that are no others.
var special = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0}

// problem draws a problem. Its numbers are such that sums of them, and their quotients by the size
// of a pool, are exact.
func (d drawer) problem(w way, dtype tensor.DType) problem {
	p := problem{dtype: dtype, pick: w.pick, batch: d.IntN(4), rows: d.IntN(7)}
	p.opt = pickstack.PoolOptions{Reduction: w.reduction, Ties: one(d, allTies), Workers: one(d, []int{0, 1, 2, 8})}
	if !w.pick {
		p.opt.MinValue = one(d, []*float64{nil, nil, new(-1.0), new(0.0), new(0.5), new(math.Inf(1)), new(math.Inf(-1))})
		p.opt.Empty = one(d, []*float64{nil, nil, new(0.0), new(-2.5)})
	}
	for range 1 + d.IntN(4) {
		d.input(&p)
	}
	d.numbers(&p)
	return p
}

// input draws an input and its index.
func (d drawer) input(p *problem) {
	width, pools := d.IntN(6), [][]int{}
	if p.pick && p.rows > 0 {
		width = max(width, 1)
	}
	for range p.rows {
		size := d.IntN(5)
		if p.pick {
			size = 1
		}
		pools = append(pools, d.pool(size, width))
	}
	if d.IntN(5) == 0 {
		width, pools = p.rows, nil
	}
	p.widths, p.index = append(p.widths, width), append(p.index, pools)
	p.channels = append(p.channels, one(d, []int{0, 1, 1, 2, 3, 4, 5, 8, 16}))
}

// pool draws so many rows of width, repeated ones too.
func (d drawer) pool(size, width int) []int {
	pool := []int{}
	for range size {
		if width > 0 {
			pool = append(pool, d.IntN(width))
		}
	}
	return pool
}

// numbers draws the elements of inputs and gradient.
func (d drawer) numbers(p *problem) {
	odds := one(d, []int{0, 0, 3, 10}) // of a special number, in 20
	for n := range p.widths {
		x := make([]float64, p.batch*p.widths[n]*p.channels[n])
		for i := range x {
			x[i] = float64(d.IntN(9)-4) / 2
			if d.IntN(20) < odds {
				x[i] = one(d, special)
			}
		}
		p.xs = append(p.xs, x)
	}
	p.g = make([]float64, p.batch*p.rows*p.width())
	for i := range p.g {
		p.g[i] = d.level(p.loose())
		if odds > 0 && !p.loose() && d.IntN(30) == 0 {
			p.g[i] = one(d, special)
		}
	}
}

// level draws an element of a gradient. If it is not small, 1, 2, 3 and 4 divide it.
func (d drawer) level(small bool) float64 {
	if small {
		return float64(d.IntN(5)-2) / 2
	}
	return float64(12 * (d.IntN(5) - 2))
}

// spread makes all rows of the batch of input n as the first.
func (p problem) spread(n int) {
	row := p.widths[n] * p.channels[n]
	for b := 1; b < p.batch; b++ {
		copy(p.xs[n][b*row:(b+1)*row], p.xs[n][:row])
	}
}

// normals draws numbers that are not exact in anything.
func (d drawer) normals(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = d.NormFloat64()
	}
	return out
}
