package pickstack_test

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestNames: reductions and ties by name, known or not.
func TestNames(t *testing.T) {
	require.Equal(t, []string{"max", "min", "mean", "sum", "logsumexp", "Reduction(5)"}, []string{pickstack.Max.String(),
		pickstack.Min.String(), pickstack.Mean.String(), pickstack.Sum.String(), pickstack.LogSumExp.String(), pickstack.Reduction(5).String()})
	require.Equal(t, []string{"even", "first", "all", "Ties(3)"}, []string{pickstack.TieEven.String(), pickstack.TieFirst.String(),
		pickstack.TieAll.String(), pickstack.Ties(3).String()})
}

// A numberRow is one pool of one channel, and what becomes of it.
type numberRow struct {
	name string
	pool []float64
	opt  pickstack.PoolOptions
	out  float64
	dx   []float64 // of a gradient of 6
}

var (
	inf    = math.Inf(1)
	lowest = math.Inf(-1)
	nan    = math.NaN()
	zero   = math.Copysign(0, -1)
)

func lse(min *float64, ties pickstack.Ties) pickstack.PoolOptions {
	return pickstack.PoolOptions{Reduction: pickstack.LogSumExp, MinValue: min, Ties: ties}
}

// numberRows has what the table of the package documentation says, and what is at its edges.
var numberRows = []numberRow{
	{"max of none", nil, pickstack.PoolOptions{}, -inf, nil},
	{"min of none", nil, pickstack.PoolOptions{Reduction: pickstack.Min}, inf, nil},
	{"mean of none", nil, pickstack.PoolOptions{Reduction: pickstack.Mean}, nan, nil},
	{"sum of none", nil, pickstack.PoolOptions{Reduction: pickstack.Sum}, 0, nil},
	{"logsumexp of none", nil, lse(nil, 0), -inf, nil},
	{"max of none is MinValue", nil, pickstack.PoolOptions{MinValue: new(-2.0)}, -2, nil},
	{"min of none is MinValue", nil, pickstack.PoolOptions{Reduction: pickstack.Min, MinValue: new(-2.0)}, -2, nil},
	{"mean of none is MinValue", nil, pickstack.PoolOptions{Reduction: pickstack.Mean, MinValue: new(-2.0)}, -2, nil},
	{"sum of none is MinValue", nil, pickstack.PoolOptions{Reduction: pickstack.Sum, MinValue: new(-2.0)}, -2, nil},
	{"logsumexp of none is MinValue", nil, lse(new(-2.0), 0), -2, nil},
	{"ties share", []float64{3, 3, 1, 3}, pickstack.PoolOptions{}, 3, []float64{2, 2, 0, 2}},
	{"ties to the first", []float64{3, 3, 1, 3}, pickstack.PoolOptions{Ties: pickstack.TieFirst}, 3, []float64{6, 0, 0, 0}},
	{"ties to all", []float64{3, 3, 1, 3}, pickstack.PoolOptions{Ties: pickstack.TieAll}, 3, []float64{6, 6, 0, 6}},
	{"min of NaN", []float64{1, nan}, pickstack.PoolOptions{Reduction: pickstack.Min}, nan, []float64{0, 6}},
	{"min of NaN of either sign", []float64{math.Copysign(nan, -1), -inf, nan}, pickstack.PoolOptions{Reduction: pickstack.Min}, nan, []float64{3, 0, 3}},
	{"max of NaN of either sign", []float64{math.Copysign(nan, -1), inf, nan}, pickstack.PoolOptions{}, nan, []float64{3, 0, 3}},
	{"NaN to the first", []float64{1, nan, nan}, pickstack.PoolOptions{Ties: pickstack.TieFirst}, nan, []float64{0, 6, 0}},
	{"NaN to all", []float64{1, nan, nan}, pickstack.PoolOptions{Ties: pickstack.TieAll}, nan, []float64{0, 6, 6}},
	{"-NaN is above MinValue", []float64{math.Copysign(nan, -1)}, pickstack.PoolOptions{MinValue: &inf}, nan, []float64{6}},
	{"mean of NaN", []float64{1, nan}, pickstack.PoolOptions{Reduction: pickstack.Mean, MinValue: new(5.0)}, nan, []float64{3, 3}},
	{"sum of NaN", []float64{1, nan}, pickstack.PoolOptions{Reduction: pickstack.Sum, MinValue: new(5.0)}, nan, []float64{6, 6}},
	{"sum of opposite Inf", []float64{inf, -inf}, pickstack.PoolOptions{Reduction: pickstack.Sum}, nan, []float64{6, 6}},
	{"logsumexp of NaN", []float64{1, nan}, lse(nil, 0), nan, []float64{nan, nan}},
	{"logsumexp of Inf", []float64{inf, 1, inf}, lse(nil, 0), inf, []float64{3, 0, 3}},
	{"logsumexp of Inf in equal shares", []float64{1, inf, inf}, lse(nil, pickstack.TieFirst), inf, []float64{0, 3, 3}},
	{"logsumexp of Inf, never all", []float64{1, inf, inf}, lse(nil, pickstack.TieAll), inf, []float64{0, 3, 3}},
	{"logsumexp of -Inf", []float64{-inf, -inf}, lse(nil, 0), -inf, []float64{3, 3}},
	{"logsumexp of -Inf in equal shares", []float64{-inf, -inf}, lse(nil, pickstack.TieFirst), -inf, []float64{3, 3}},
	{"logsumexp beside -Inf", []float64{2, -inf}, lse(nil, 0), 2, []float64{6, 0}},
	{"logsumexp does not overflow", []float64{3e4, -3e4}, lse(nil, 0), 3e4, []float64{6, 0}},
	{"logsumexp does not underflow", []float64{-3e4, -6e4}, lse(nil, 0), -3e4, []float64{6, 0}},
	{"logsumexp below MinValue", []float64{2, -inf}, lse(new(3.0), 0), 3, []float64{0, 0}},
	{"logsumexp that is MinValue", []float64{2, -inf}, lse(new(2.0), 0), 2, []float64{6, 0}},
	{"sum below MinValue", []float64{2, -4}, pickstack.PoolOptions{Reduction: pickstack.Sum, MinValue: new(-1.5)}, -1.5, []float64{0, 0}},
	{"sum that is MinValue", []float64{2, -4}, pickstack.PoolOptions{Reduction: pickstack.Sum, MinValue: new(-2.0)}, -2, []float64{6, 6}},
	{"mean below MinValue", []float64{2, -4}, pickstack.PoolOptions{Reduction: pickstack.Mean, MinValue: new(-0.5)}, -0.5, []float64{0, 0}},
	{"mean that is MinValue", []float64{2, -4}, pickstack.PoolOptions{Reduction: pickstack.Mean, MinValue: new(-1.0)}, -1, []float64{3, 3}},
	{"negative sums without MinValue", []float64{-2, -4}, pickstack.PoolOptions{Reduction: pickstack.Sum}, -6, []float64{6, 6}},
	{"min below MinValue", []float64{2, -4}, pickstack.PoolOptions{Reduction: pickstack.Min, MinValue: new(-3.0)}, -3, []float64{0, 0}},
	{"min that is MinValue", []float64{2, -4}, pickstack.PoolOptions{Reduction: pickstack.Min, MinValue: new(-4.0)}, -4, []float64{0, 6}},
	{"max of 0 and -0", []float64{zero, 0}, pickstack.PoolOptions{}, 0, []float64{3, 3}},
	{"min of 0 and -0", []float64{0, zero}, pickstack.PoolOptions{Reduction: pickstack.Min}, zero, []float64{3, 3}},
	{"-0 is kept", []float64{zero, zero}, pickstack.PoolOptions{}, zero, []float64{3, 3}},
	{"-0 ties with MinValue 0", []float64{zero}, pickstack.PoolOptions{MinValue: new(0.0)}, 0, []float64{6}},
	{"0 ties with MinValue -0", []float64{0}, pickstack.PoolOptions{MinValue: &zero}, 0, []float64{6}},
	{"MinValue Inf", []float64{1, inf}, pickstack.PoolOptions{MinValue: &inf}, inf, []float64{0, 6}},
	{"MinValue Inf takes all else", []float64{1, 2}, pickstack.PoolOptions{MinValue: &inf}, inf, []float64{0, 0}},
	{"MinValue -Inf takes nothing", []float64{-inf, -inf}, pickstack.PoolOptions{MinValue: &lowest}, -inf, []float64{3, 3}},
	{"max of Inf and less", []float64{inf, 1, inf}, pickstack.PoolOptions{}, inf, []float64{3, 0, 3}},
}

// TestNumbers: each dtype does what the table of the package documentation says.
func TestNumbers(t *testing.T) {
	for _, row := range numberRows {
		t.Run(row.name, func(t *testing.T) {
			for _, d := range floats {
				row.check(t, d)
			}
		})
	}
}

func (row numberRow) check(t *testing.T, d tensor.DType) {
	t.Helper()
	pool := make([]int, len(row.pool))
	for i := range pool {
		pool[i] = i
	}
	for _, channels := range []int{1, 3, 8, 21} { // channels alike, for loops of any width
		p := problem{dtype: d, batch: 1, rows: 1, widths: []int{len(pool)}, channels: []int{channels}, index: [][][]int{{pool}}, opt: row.opt}
		x, want := []float64{}, []float64{}
		for i, v := range row.pool {
			for range channels {
				x, want = append(x, v), append(want, row.dx[i])
			}
		}
		for range channels {
			p.g = append(p.g, 6)
		}
		p.xs = [][]float64{x}
		outs := make([]float64, channels)
		for c := range outs {
			outs[c] = rounded(d, row.out)
		}
		plan := p.plan(t, tensor.Int64)
		out, err := plan.Forward(p.inputs()...)
		require.NoError(t, err)
		equal(t, outs, p.out(), out, false, true)
		dxs, err := plan.Gradient(dense(d, p.out(), p.g), p.inputs()...)
		require.NoError(t, err)
		equal(t, want, p.in(0), dxs[0], false, false)
	}
}

// TestMinValueIsRounded to the dtype, so that what it stands for equals it.
func TestMinValueIsRounded(t *testing.T) {
	for _, d := range floats {
		p := problem{dtype: d, batch: 1, rows: 2, widths: []int{1}, channels: []int{1}, index: [][][]int{{{0}, {}}}, xs: [][]float64{{0.1}}, g: []float64{6, 6}}
		p.opt.MinValue = new(0.1)
		plan := p.plan(t, tensor.Int64)
		out, err := plan.Forward(p.inputs()...)
		require.NoError(t, err)
		equal(t, []float64{rounded(d, 0.1), rounded(d, 0.1)}, p.out(), out, false, false)
		require.Equal(t, [][]float64{{6}}, p.gradients(t))
	}
}

// TestOrder: sums of float32 are those of a loop over the entries of a pool, or over the rows of
// the output, one after the other, and means are quotients of such.
func TestOrder(t *testing.T) {
	for _, r := range []pickstack.Reduction{pickstack.Sum, pickstack.Mean} {
		for _, channels := range []int{1, 3, 8, 17, 40} {
			for _, width := range []int{30, 30000} { // of the second few rows are used
				d := newDrawer(uint64(channels))
				p := problem{dtype: tensor.Float32, batch: 2, rows: 50, widths: []int{width}, channels: []int{channels}, opt: pickstack.PoolOptions{Reduction: r}}
				p.index = [][][]int{make([][]int, p.rows)}
				for a := range p.rows {
					p.index[0][a] = d.pool(1+d.IntN(20), 30)
				}
				p.xs, p.g = [][]float64{d.normals(2 * width * channels)}, d.normals(2*50*channels)
				p.inOrder(t)
			}
		}
	}
}

// inOrder compares with sums of float32, bit for bit.
func (p problem) inOrder(t *testing.T) {
	t.Helper()
	outs, dx := make([]float32, len(p.g)), make([]float32, len(p.xs[0]))
	p.each(func(n, b, c, at int, rows []int, _ bool) {
		k := float32(1)
		if p.opt.Reduction == pickstack.Mean {
			k = float32(len(rows))
		}
		for _, row := range rows {
			from := (b*p.widths[n]+row)*p.channels[n] + c
			outs[at] += float32(p.xs[n][from])
			dx[from] += float32(p.g[at]) / k
		}
		outs[at] /= k
	})
	plan := p.plan(t, tensor.Int64)
	out, err := plan.Forward(p.inputs()...)
	require.NoError(t, err)
	require.Equal(t, outs, testkit.Elements[float32](t, out))
	dxs, err := plan.Gradient(dense(p.dtype, p.out(), p.g), p.inputs()...)
	require.NoError(t, err)
	require.Equal(t, dx, testkit.Elements[float32](t, dxs[0]))
}

// TestLayoutsAlike: results are equal bit for bit whatever the layout and the memory, also where
// they are rounded.
func TestLayoutsAlike(t *testing.T) {
	for _, w := range ways() {
		for _, d := range floats {
			p := large(w, 2, 40)
			p.dtype = d
			plan, g := p.plan(t, tensor.Int64), dense(d, p.out(), p.g)
			want, err := plan.Forward(p.inputs()...)
			require.NoError(t, err)
			dxs := p.gradients(t)
			for _, l := range layouts {
				var xs []*tensor.Tensor
				for n := range p.xs {
					xs = append(xs, lay(t, d, p.in(n), p.xs[n], l, testkit.Lent).Tensor)
				}
				got, err := plan.Forward(xs...)
				require.NoError(t, err)
				require.Equal(t, testkit.Content(t, want), testkit.Content(t, got), "%s of %v, %s", w.name, d, l.name)
				back, err := plan.Gradient(lay(t, d, p.out(), listed(t, g), l, testkit.Go).Tensor, xs...)
				require.NoError(t, err)
				require.Equal(t, dxs, [][]float64{listed(t, back[0]), listed(t, back[1])}, "%s of %v, %s", w.name, d, l.name)
			}
		}
	}
}

// TestConcurrentUse: one plan, many goroutines, which the race detector watches.
func TestConcurrentUse(t *testing.T) {
	for _, w := range ways() {
		p := large(w, 2, 400)
		p.opt.Workers = 2
		plan, g := p.plan(t, tensor.Int64), dense(p.dtype, p.out(), p.g)
		want, err := plan.Forward(p.inputs()...)
		require.NoError(t, err)
		dxs := p.gradients(t)
		outs, backs, errs := make([]*tensor.Tensor, 4), make([][]*tensor.Tensor, 4), make([]error, 8)
		var all sync.WaitGroup
		for i := range outs {
			all.Go(func() {
				outs[i], errs[2*i] = plan.Forward(p.inputs()...)
				backs[i], errs[2*i+1] = plan.Gradient(g, p.inputs()...)
			})
		}
		all.Wait()
		require.Equal(t, make([]error, 8), errs)
		for i := range outs {
			require.Equal(t, testkit.Content(t, want), testkit.Content(t, outs[i]))
			require.Equal(t, dxs, [][]float64{listed(t, backs[i][0]), listed(t, backs[i][1])})
		}
	}
}
