package pickstack_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestSpecEmpty has the cases of the specification of which some size is 0.
func TestSpecEmpty(t *testing.T) {
	x := cube(t, tensor.Float32, specX)
	rows := []struct {
		name string
		p    problem
		xs   []*tensor.Tensor
		want []int
	}{
		{"P06 no rows", problem{pick: true, widths: []int{2}, index: [][][]int{{}}}, []*tensor.Tensor{x}, []int{2, 0, 2}},
		{"P10 no channels", problem{pick: true, rows: 8, widths: []int{12}, index: [][][]int{{{0}, {11}, {3}, {3}, {1}, {2}, {0}, {7}}}},
			[]*tensor.Tensor{dense(tensor.Float32, []int{1, 12, 0}, nil)}, []int{1, 8, 0}},
		{"L11 no pools", problem{widths: []int{2}, index: [][][]int{{}}}, []*tensor.Tensor{x}, []int{2, 0, 2}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			plan := row.p.plan(t, tensor.Int64)
			out, err := plan.Forward(row.xs...)
			require.NoError(t, err)
			equal(t, nil, row.want, out, false, false)
			dxs, err := plan.Gradient(out, row.xs...)
			require.NoError(t, err)
			require.Len(t, dxs, 1)
			in := []int(row.xs[0].Shape().Clone())
			equal(t, make([]float64, row.xs[0].Size()), in, dxs[0], false, true)
		})
	}
}

// TestSpecRefused has the cases of the specification that are errors.
func TestSpecRefused(t *testing.T) {
	for _, v := range []int{3, -1, 12, -99999, 999999} {
		for _, d := range []tensor.DType{tensor.Int32, tensor.Int64} {
			plan, err := pickstack.NewPick([]*tensor.Tensor{tensorOf(d, []int{0, 1, v, 2})}, []int{3}, pickstack.PickOptions{})
			require.ErrorIs(t, err, shapeops.ErrIndex, "P09 %d", v)
			require.Nil(t, plan)
			pools := []*ragged.Tensor{poolsOf(d, [][]int{{0, 1}, {v, 2}})}
			require.ErrorIs(t, testkit.Err(pickstack.NewPool(pools, []int{3}, pickstack.PoolOptions{})), shapeops.ErrIndex, "P09 %d", v)
		}
	}
	values := tensorOf(tensor.Int64, []int{0, 0})
	for _, splits := range [][]int{{0, 2, 1}, {1, 2}, {0, 1}, {0, 3}, {-1, 2}, {}} {
		_, err := pickstack.FromSplits(values, tensorOf(tensor.Int64, splits))
		require.ErrorIs(t, err, ragged.ErrOffsets, "L15 splits %v", splits)
	}
	unequal := []*ragged.Tensor{poolsOf(tensor.Int64, [][]int{{0}}), poolsOf(tensor.Int64, [][]int{{0}, {}})}
	require.ErrorIs(t, testkit.Err(pickstack.NewPool(unequal, []int{1, 1}, pickstack.PoolOptions{})), shapeops.ErrShape, "L15")
}

// An lcg is the generator of the specification.
type lcg uint32

func (s *lcg) below(n uint32) int {
	*s = 1664525**s + 1013904223
	return int(uint32(*s) % n)
}

// weighed returns the sum of (k+1) v_k.
func weighed(list []float64) (sum float64) {
	for k, v := range list {
		sum += float64(k+1) * v
	}
	return sum
}

func sum(list []float64) (sum float64) {
	for _, v := range list {
		sum += v
	}
	return sum
}

// drawn returns the problem of P11, and the generator as it is then.
func drawn() (problem, *lcg) {
	s := lcg(7)
	p := problem{dtype: tensor.Float32, pick: true, batch: 2, rows: 4, widths: []int{5, 5}, channels: []int{3, 3}}
	for range 2 {
		x := make([]float64, 30)
		for i := range x {
			x[i] = float64(s.below(41)-20) / 4
		}
		p.xs = append(p.xs, x)
	}
	for range 2 {
		index := make([][]int, 4)
		for a := range index {
			index[a] = []int{s.below(5)}
		}
		p.index = append(p.index, index)
	}
	p.g = make([]float64, 48)
	for i := range p.g {
		p.g[i] = float64(s.below(9)-4) / 2
	}
	return p, &s
}

// TestSpecDrawn has the cases of the specification whose numbers a generator makes.
func TestSpecDrawn(t *testing.T) {
	p, s := drawn()
	t.Run("P11 picks", func(t *testing.T) {
		require.Equal(t, [][][]int{{{0}, {4}, {2}, {2}}, {{0}, {1}, {1}, {0}}}, p.index)
		require.Equal(t, []float64{0, 4.25, -3, 2.75, 1.25, -3.5}, p.xs[0][:6])
		require.Equal(t, []float64{11.75, 0.75}, []float64{sum(p.xs[0]), sum(p.xs[1])})
		out, dxs := ran(t, p)
		require.Equal(t, []float64{-21.75, -692.5}, []float64{sum(out), weighed(out)})
		require.Equal(t, []float64{-131.5, -31.5}, []float64{weighed(dxs[0]), weighed(dxs[1])})
	})
	t.Run("L16 pools", func(t *testing.T) {
		p.pick, p.opt.MinValue, p.index = false, new(-1.0), nil
		for _, lengths := range [][]int{{0, 3, 1, 2}, {2, 0, 0, 4}} {
			pools := [][]int{}
			for _, n := range lengths {
				pool := []int{}
				for range n {
					pool = append(pool, s.below(5))
				}
				pools = append(pools, pool)
			}
			p.index = append(p.index, pools)
		}
		require.Equal(t, []int{1, 2, 0, 0, 1, 2}, slices.Concat(p.index[0]...))
		require.Equal(t, []int{3, 3, 1, 1, 0, 0}, slices.Concat(p.index[1]...))
		out, dxs := ran(t, p)
		require.Equal(t, []float64{-1, -1, -1, 3.5, 4.5, 4.5, 2.75, 4.25, -1}, out[:9])
		require.Equal(t, []float64{47, 1167.5}, []float64{sum(out), weighed(out)})
		require.Equal(t, []float64{-55, 20.5}, []float64{weighed(dxs[0]), weighed(dxs[1])})
	})
}

// ran returns the output and the gradients of a problem, which the loops agree with.
func ran(t *testing.T, p problem) ([]float64, [][]float64) {
	t.Helper()
	plan := p.plan(t, tensor.Int64)
	out, err := plan.Forward(p.inputs()...)
	require.NoError(t, err)
	p.sameForward(t, out)
	dxs, err := plan.Gradient(dense(p.dtype, p.out(), p.g), p.inputs()...)
	require.NoError(t, err)
	p.sameGradient(t, dxs, nil)
	return listed(t, out), [][]float64{listed(t, dxs[0]), listed(t, dxs[1])}
}

// TestSpecWorkers is L17: results are equal bit for bit whatever the number of goroutines.
func TestSpecWorkers(t *testing.T) {
	for _, w := range ways() {
		for _, batch := range []int{1, 16} {
			t.Run("L17 "+w.name, func(t *testing.T) { sameForWorkers(t, w, batch) })
		}
	}
}

func sameForWorkers(t *testing.T, w way, batch int) {
	rows := 64_000 // 4 MB
	if !longtests.On() {
		rows = 16_000
	}
	p := large(w, batch, rows)
	xs, g := p.inputs(), dense(p.dtype, p.out(), p.g)
	var first [][]byte
	for _, workers := range []int{1, 2, 8, 0} {
		p.opt.Workers = workers
		plan := p.plan(t, tensor.Int32)
		out, err := plan.Forward(xs...)
		require.NoError(t, err)
		dxs, err := plan.Gradient(g, xs...)
		require.NoError(t, err)
		got := [][]byte{testkit.Content(t, out)}
		for _, dx := range dxs {
			got = append(got, testkit.Content(t, dx))
		}
		if first == nil {
			first = got
		}
		for i := range got {
			require.True(t, slices.Equal(first[i], got[i]), "%d workers, result %d", workers, i)
		}
	}
}

// large returns a problem whose output has so many rows of 16 numbers, in all batch elements.
func large(w way, batch, rows int) problem {
	d := newDrawer(uint64(batch))
	p := problem{dtype: tensor.Float32, pick: w.pick, batch: batch, rows: rows / batch, opt: pickstack.PoolOptions{Reduction: w.reduction}}
	p.widths, p.channels = []int{min(300, rows), min(1000, 3*rows)}, []int{7, 9}
	for _, width := range p.widths {
		index := make([][]int, p.rows)
		for a := range index {
			index[a] = []int{d.IntN(width)}
			for range d.IntN(3) {
				if !w.pick {
					index[a] = append(index[a], d.IntN(width))
				}
			}
		}
		p.index = append(p.index, index)
	}
	for n := range p.widths {
		p.xs = append(p.xs, d.normals(batch*p.widths[n]*p.channels[n]))
	}
	p.g = d.normals(batch * p.rows * p.width())
	return p
}
