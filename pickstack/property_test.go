package pickstack_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// smooth draws a problem of float64 without ties, with and without MinValue.
func smooth(seed uint64, w way) problem {
	d := newDrawer(seed)
	p := d.problem(w, tensor.Float64)
	p.opt.MinValue = one(d, []*float64{nil, new(-0.3)})
	for n := range p.xs {
		p.xs[n] = d.normals(len(p.xs[n]))
	}
	p.g = d.normals(len(p.g))
	for n, pools := range p.index { // an entry twice is a tie
		for a := range pools {
			slices.Sort(pools[a])
			p.index[n][a] = slices.Compact(pools[a])
		}
	}
	return p
}

// gradients returns those of a problem by the library, as numbers.
func (p problem) gradients(t *testing.T) [][]float64 {
	t.Helper()
	dxs, err := p.plan(t, tensor.Int64).Gradient(dense(p.dtype, p.out(), p.g), p.inputs()...)
	require.NoError(t, err)
	out := make([][]float64, len(dxs))
	for n, dx := range dxs {
		out[n] = listed(t, dx)
	}
	return out
}

// inner returns the sum of g times the output by the library, in which NaN and Inf of empty pools
// count 0.
func (p problem) inner(t *testing.T, plan *pickstack.Plan) (sum float64) {
	t.Helper()
	out, err := plan.Forward(p.inputs()...)
	require.NoError(t, err)
	for i, v := range listed(t, out) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			sum += p.g[i] * v
		}
	}
	return sum
}

// TestDifferences compares gradients with central differences, away from ties.
func TestDifferences(t *testing.T) {
	const h = 1e-6
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			for seed := range uint64(12) {
				p := smooth(seed, w)
				plan, dxs := p.plan(t, tensor.Int64), p.gradients(t)
				for n := range p.xs {
					for i, v := range p.xs[n] {
						p.xs[n][i] = v + h
						up := p.inner(t, plan)
						p.xs[n][i] = v - h
						down := p.inner(t, plan)
						p.xs[n][i] = v
						require.InDelta(t, (up-down)/(2*h), dxs[n][i], 1e-6, "seed %d, input %d, element %d", seed, n, i)
					}
				}
			}
		})
	}
}

// TestComposed compares with what other packages make of the same: rows taken, concatenated, and
// reduced.
func TestComposed(t *testing.T) {
	verbs := map[pickstack.Reduction]ragged.Reducer{
		pickstack.Max: arith.Max[*tensor.Tensor], pickstack.Min: arith.Min[*tensor.Tensor],
		pickstack.Sum: arith.Sum[*tensor.Tensor], pickstack.Mean: arith.Mean[*tensor.Tensor],
		pickstack.LogSumExp: logOfSum,
	}
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			for seed := range uint64(40) {
				p := composable(seed, w)
				got, err := p.plan(t, tensor.Int64).Forward(p.inputs()...)
				require.NoError(t, err)
				var parts []*tensor.Tensor
				for n, x := range p.inputs() {
					parts = append(parts, p.composed(t, n, x, verbs[w.reduction]))
				}
				want, err := shapeops.Cat(parts, 2)
				require.NoError(t, err)
				equal(t, listed(t, want), p.out(), got, p.loose() || w.reduction == pickstack.Mean, false) // arith.Mean of equal numbers is that number
			}
		})
	}
}

// logOfSum is a log of a sum of exp, which may overflow.
func logOfSum(x *tensor.Tensor, over arith.Over) (*tensor.Tensor, error) {
	total, err := arith.Sum(tensor.Must(arith.Exp(x)), over)
	if err != nil {
		return nil, err
	}
	return arith.Log(total)
}

// composable draws a problem without empty pools and MinValue, with one batch row at least.
func composable(seed uint64, w way) problem {
	d := newDrawer(seed + 1300)
	p := d.problem(w, tensor.Float64)
	for p.batch == 0 || slices.ContainsFunc(slices.Concat(p.index...), func(pool []int) bool { return len(pool) == 0 }) {
		p = d.problem(w, tensor.Float64)
	}
	for n := range p.xs {
		p.xs[n] = d.normals(len(p.xs[n]))
	}
	p.opt.MinValue = nil
	return p
}

// composed returns what becomes of input n by other packages.
func (p problem) composed(t *testing.T, n int, x *tensor.Tensor, verb ragged.Reducer) *tensor.Tensor {
	t.Helper()
	if p.index[n] == nil {
		return x
	}
	flat := tensorOf(tensor.Int64, slices.Concat(p.index[n]...))
	if p.pick {
		return tensor.Must(x.Take(1, flat))
	}
	var rows []*tensor.Tensor
	for b := range p.batch {
		taken := tensor.Must(tensor.Must(x.Narrow(0, b, 1)).Take(1, flat))
		pools, err := poolsOf(tensor.Int64, p.index[n]).MapValues(func(*tensor.Tensor) (*tensor.Tensor, error) { return taken.Squeeze(0) })
		require.NoError(t, err)
		one, err := pools.Reduce(1, verb)
		require.NoError(t, err)
		rows = append(rows, tensor.Must(one.Values()))
	}
	return tensor.Must(shapeops.Stack(rows, 0))
}

// TestAddTouchesNoOtherRow: rows without an index keep even a NaN with its bits, and -0.
func TestAddTouchesNoOtherRow(t *testing.T) {
	for _, w := range ways() {
		p := problem{dtype: tensor.Float64, pick: w.pick, batch: 2, rows: 2, widths: []int{4}, channels: []int{1}, index: [][][]int{{{1}, {3}}}}
		p.opt.Reduction, p.xs, p.g = w.reduction, [][]float64{make([]float64, 8)}, []float64{1, 2, 3, 4}
		odd := math.Float64frombits(0x7ff8_0000_dead_beef)
		minus := math.Copysign(0, -1)
		dx := tensor.Must(tensor.From([]float64{odd, 0, minus, 0, minus, 0, odd, 0}, 2, 4, 1))
		require.NoError(t, p.plan(t, tensor.Int64).AddGradient([]*tensor.Tensor{dx}, dense(p.dtype, p.out(), p.g), p.inputs()...))
		bits := []uint64{}
		for _, v := range listed(t, dx) {
			bits = append(bits, math.Float64bits(v))
		}
		b := math.Float64bits
		require.Equal(t, []uint64{b(odd), b(1), b(minus), b(2), b(minus), b(3), b(odd), b(4)}, bits, w.name)
	}
}
