package pickstack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A tape is read byte by byte; past its end there are zeros.
type tape []byte

func (b *tape) below(n int) int {
	if len(*b) == 0 {
		return 0
	}
	v := int((*b)[0])
	*b = (*b)[1:]
	return v % n
}

// problem reads a small problem. Its numbers are such that sums of them, and their quotients by the
// size of a pool, are exact.
func (b *tape) problem() problem {
	p := problem{dtype: floats[b.below(4)], pick: b.below(4) == 0, batch: b.below(3), rows: b.below(5)}
	p.opt.Reduction, p.opt.Ties, p.opt.Workers = reductions[b.below(5)], allTies[b.below(3)], b.below(3)
	if v := b.below(8); v < 7 {
		p.opt.MinValue = new(float64(v)/2 - 1)
	}
	if v := b.below(4); v == 3 {
		p.opt.Empty = new(0.5)
	}
	for range 1 + b.below(3) {
		b.input(&p)
	}
	for n, width := range p.widths {
		p.xs = append(p.xs, b.numbers(p.batch*width*p.channels[n], 0.5))
	}
	p.g = b.numbers(p.batch*p.rows*p.width(), 12)
	return p
}

func (b *tape) numbers(n int, unit float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		if v := b.below(12); v < 9 {
			out[i] = float64(v-4) * unit
		} else {
			out[i] = special[v-9]
		}
	}
	return out
}

// input reads the index of an input, which has an entry that is no row of it now and then.
func (b *tape) input(p *problem) {
	p.channels = append(p.channels, b.below(4))
	if b.below(5) == 4 {
		p.widths, p.index = append(p.widths, p.rows), append(p.index, nil)
		return
	}
	width, pools := b.below(5), [][]int{}
	for range p.rows {
		size, pool := 1, []int{}
		if !p.pick {
			size = b.below(5)
		}
		for range size {
			pool = append(pool, b.entry(width))
		}
		pools = append(pools, pool)
	}
	p.widths, p.index = append(p.widths, width), append(p.index, pools)
}

// entry reads a row.
func (b *tape) entry(width int) int {
	switch v := b.below(100); {
	case v == 99:
		return -1
	case v == 98 || width == 0:
		return width
	default:
		return v % width
	}
}

// possible reports whether all entries are rows.
func (p problem) possible() bool {
	for n, pools := range p.index {
		for _, pool := range pools {
			for _, row := range pool {
				if row < 0 || row >= p.widths[n] {
					return false
				}
			}
		}
	}
	return true
}

// FuzzPickStack compares small problems with loops, bit for bit. Entries that are no rows are
// refused.
func FuzzPickStack(f *testing.F) {
	for seed := range uint64(20) {
		d, b := newDrawer(seed), make([]byte, 60)
		for i := range b {
			b[i] = byte(d.IntN(256))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := (*tape)(&b).problem()
		if p.possible() {
			p.check(t, one(newDrawer(uint64(len(b))), []tensor.DType{tensor.Int32, tensor.Int64}))
			return
		}
		require.ErrorIs(t, p.refused(), shapeops.ErrIndex)
	})
}

// refused returns the error of making a plan.
func (p problem) refused() error {
	if p.pick {
		return testkit.Err(pickstack.NewPick(p.indices(tensor.Int64), p.widths, pickstack.PickOptions{}))
	}
	return testkit.Err(pickstack.NewPool(p.pools(tensor.Int64), p.widths, p.opt))
}

// check compares all that a plan does with loops.
func (p problem) check(t *testing.T, kind tensor.DType) {
	t.Helper()
	plan, xs, g := p.plan(t, kind), p.inputs(), dense(p.dtype, p.out(), p.g)
	out, err := plan.Forward(xs...)
	require.NoError(t, err)
	p.sameForward(t, out)
	dxs, err := plan.Gradient(g, xs...)
	require.NoError(t, err)
	p.sameGradient(t, dxs, nil)
	old := make([][]float64, len(dxs))
	for n, dx := range dxs {
		old[n] = listed(t, dx)
	}
	require.NoError(t, plan.AddGradient(dxs, g, xs...))
	p.sameGradient(t, dxs, old)
}
