package pickstack_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestOracleLarge compares with loops what takes several tasks, strips of channels and parts of a
// pool.
func TestOracleLarge(t *testing.T) {
	seed, dtypes := uint64(0), []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16}
	if !longtests.On() {
		dtypes = dtypes[:1]
	}
	for _, w := range ways() {
		for _, dtype := range dtypes {
			for _, l := range []layout{layouts[0], layouts[5]} {
				seed++
				t.Run(fmt.Sprint(w.name, "/", dtype, "/", l.name), func(t *testing.T) {
					d := newDrawer(seed + 6000)
					d.wide(w, dtype).checkLarge(t, l)
				})
			}
		}
	}
}

// wide draws a problem of many rows and channels, with one pool of very many entries.
func (d drawer) wide(w way, dtype tensor.DType) problem {
	p := problem{dtype: dtype, pick: w.pick, batch: 2, rows: 300, widths: []int{1500, 40, 300}, channels: []int{37, 70, 3}, index: [][][]int{nil, nil, nil}}
	p.opt = pickstack.PoolOptions{Reduction: w.reduction, Ties: one(d, allTies), Workers: 2, MinValue: one(d, []*float64{nil, new(-1.0)})}
	for n, width := range p.widths[:2] {
		for range p.rows {
			size := 1
			if !w.pick {
				size = d.IntN(9)
			}
			p.index[n] = append(p.index[n], d.pool(size, width))
		}
	}
	if !w.pick {
		p.index[0][d.IntN(p.rows)], p.index[1][d.IntN(p.rows)] = d.pool(5000, 1500), d.pool(5000, 40)
	}
	d.numbers(&p)
	return p
}

func (p problem) checkLarge(t *testing.T, l layout) {
	t.Helper()
	plan, xs := p.plan(t, tensor.Int32), []*tensor.Tensor{}
	for n := range p.xs {
		xs = append(xs, lay(t, p.dtype, p.in(n), p.xs[n], l, testkit.Go).Tensor)
	}
	out := lay(t, p.dtype, p.out(), make([]float64, len(p.g)), l, testkit.Go).Tensor
	require.NoError(t, plan.ForwardInto(out, xs...))
	p.closeTo(t, p.forward(), listed(t, out))
	dxs, err := plan.Gradient(dense(p.dtype, p.out(), p.g), xs...)
	require.NoError(t, err)
	for n, want := range p.gradient() {
		p.closeTo(t, want, listed(t, dxs[n]))
	}
}

// closeTo fails the test unless got is want, but for what is rounded on the way: as a sum of some
// 10000 numbers may be, none of which is greater than the greatest sum.
func (p problem) closeTo(t *testing.T, want, got []float64) {
	t.Helper()
	require.Len(t, got, len(want))
	greatest := 0.0
	for _, v := range want {
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			greatest = max(greatest, math.Abs(v))
		}
	}
	often := map[int]float64{2: 1, 4: 4, 8: 4}[p.dtype.Size()] // 16 bits are reckoned in float32
	for i, v := range want {
		w := rounded(p.dtype, v)
		alike := got[i] == w || math.IsNaN(got[i]) && math.IsNaN(w)
		if !alike && !(math.Abs(got[i]-w) <= often*slack(p.dtype, greatest)) {
			t.Fatalf("element %d: got %v, want %v", i, got[i], w)
		}
	}
}

// TestRaggedLarge: many problems, some of them empty.
func TestRaggedLarge(t *testing.T) {
	for i, w := range ways() {
		d := newDrawer(uint64(i) + 7000)
		b := d.problems(90, w, one(d, floats))
		b.check(t, d, b.plan(t, tensor.Int32))
	}
}
