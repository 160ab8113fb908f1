package pickstack_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A batch is problems that differ in sizes, each with a batch of one row.
type batch []problem

// problems draws a batch of so many problems.
func (d drawer) problems(count int, w way, dtype tensor.DType) batch {
	model := d.problem(w, dtype)
	out := make(batch, count)
	for q := range out {
		p := problem{dtype: dtype, pick: w.pick, batch: 1, rows: d.IntN(5), opt: model.opt}
		for n := range model.index {
			d.input(&p)
			p.channels[n] = model.channels[n]
			if model.index[n] == nil {
				p.widths[n], p.index[n] = p.rows, nil
			} else if p.index[n] == nil {
				p.index[n] = [][]int{}
				for a := range p.rows {
					p.index[n] = append(p.index[n], []int{a})
				}
			}
		}
		d.numbers(&p)
		out[q] = p
	}
	return out
}

// lengths returns a number of each problem.
func (b batch) lengths(of func(p problem) int) []int64 {
	out := make([]int64, len(b))
	for q, p := range b {
		out[q] = int64(of(p))
	}
	return out
}

func (b batch) outs() []int64      { return b.lengths(func(p problem) int { return p.rows }) }
func (b batch) ins(n int) []int64  { return b.lengths(func(p problem) int { return p.widths[n] }) }
func (b batch) of(n int) [][][]int { return b.each(func(p problem) [][]int { return p.index[n] }) }
func (b batch) skips(n int) bool   { return b[0].index[n] == nil }
func (b batch) layouts() (out []*ragged.Layout) {
	for n := range b[0].widths {
		out = append(out, tensor.Must(ragged.LayoutOf(shapeops.Shape{len(b)}, b.ins(n))))
	}
	return out
}

func (b batch) each(of func(p problem) [][]int) (out [][][]int) {
	for _, p := range b {
		out = append(out, of(p))
	}
	return out
}

// pool returns the pools of input n, [Q * *], or its index, [Q *].
func (b batch) pool(n int, kind tensor.DType) *ragged.Tensor {
	if b.skips(n) {
		return nil
	}
	pools := slices.Concat(b.of(n)...)
	values := tensorOf(kind, slices.Concat(pools...))
	if b[0].pick {
		return tensor.Must(ragged.FromLengths(values, b.outs()))
	}
	lengths := make([]int64, len(pools))
	for a, pool := range pools {
		lengths[a] = int64(len(pool))
	}
	return tensor.Must(ragged.FromLengths(values, b.outs(), lengths))
}

// plan returns the plan of all problems.
func (b batch) plan(t *testing.T, kind tensor.DType) *pickstack.RaggedPlan {
	t.Helper()
	var pools []*ragged.Tensor
	for n := range b[0].index {
		pools = append(pools, b.pool(n, kind))
	}
	var plan *pickstack.RaggedPlan
	var err error
	if b[0].pick {
		plan, err = pickstack.NewRaggedPick(pools, b.layouts(), pickstack.PickOptions{Workers: b[0].opt.Workers})
	} else {
		plan, err = pickstack.NewRaggedPool(pools, b.layouts(), b[0].opt)
	}
	require.NoError(t, err)
	require.NotNil(t, plan)
	require.NoError(t, tensor.Must(ragged.LayoutOf(shapeops.Shape{len(b)}, b.outs())).CheckEqual(plan.Layout()))
	return plan
}

// rows returns a ragged tensor [Q * C] of numbers of each problem.
func (b batch) rows(d tensor.DType, lengths []int64, channels int, of func(p problem) []float64) *ragged.Tensor {
	var all []float64
	for _, p := range b {
		all = append(all, of(p)...)
	}
	n := 0
	for _, l := range lengths {
		n += int(l)
	}
	return tensor.Must(ragged.FromLengths(dense(d, []int{n, channels}, all), lengths))
}

func (b batch) inputs() (out []*ragged.Tensor) {
	for n, c := range b[0].channels {
		out = append(out, b.rows(b[0].dtype, b.ins(n), c, func(p problem) []float64 { return p.xs[n] }))
	}
	return out
}

func (b batch) g() *ragged.Tensor {
	return b.rows(b[0].dtype, b.outs(), b[0].width(), func(p problem) []float64 { return p.g })
}

// among returns a part of a larger tensor with the rows of x: between others, or every second.
func among(t *testing.T, d drawer, x *ragged.Tensor) *ragged.Tensor {
	t.Helper()
	if d.IntN(3) == 0 {
		return x
	}
	q := x.Shape().Clone()[0]
	all := tensor.Must(shapeops.Cat([]*ragged.Tensor{x, x, x}, 0))
	part := tensor.Must(all.Range(q, 2*q))
	if d.IntN(2) == 0 {
		order := []int{}
		for i := range q {
			order = append(order, i, (i*7+1)%q)
		}
		part = tensor.Must(tensor.Must(x.TakeRows(order...)).Index(ix.Range(0, ix.End).Step(2)))
	}
	require.True(t, part.Layout().Equal(x.Layout()))
	return part
}

// same fails the test unless x holds what each problem says, one after the other.
func (b batch) same(t *testing.T, x *ragged.Tensor, check func(q int, row *tensor.Tensor)) {
	t.Helper()
	require.NotNil(t, x)
	require.Equal(t, []int{len(b)}, []int(x.Shape().Clone()))
	for q := range b {
		row, err := x.Row(q)
		require.NoError(t, err)
		values, err := row.Values()
		require.NoError(t, err)
		check(q, tensor.Must(values.Unsqueeze(0)))
	}
}

// sameForward fails the test unless x is the outputs, and those of a plan for each problem.
func (b batch) sameForward(t *testing.T, x *ragged.Tensor) {
	t.Helper()
	b.same(t, x, func(q int, row *tensor.Tensor) {
		b[q].sameForward(t, row)
		alone, err := b[q].plan(t, tensor.Int64).Forward(b[q].inputs()...)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(listed(t, alone)), fmt.Sprint(listed(t, row)), "problem %d", q)
	})
}

// sameGradient fails the test unless dxs are the gradients, and those of a plan for each problem.
func (b batch) sameGradient(t *testing.T, dxs []*ragged.Tensor) {
	t.Helper()
	require.Len(t, dxs, len(b[0].index))
	for n, dx := range dxs {
		b.same(t, dx, func(q int, row *tensor.Tensor) {
			equal(t, b[q].gradient()[n], b[q].in(n), row, b[q].loose(), false)
			require.Equal(t, fmt.Sprint(b[q].gradients(t)[n]), fmt.Sprint(listed(t, row)), "problem %d", q)
		})
	}
}

// TestRagged: a plan of many problems does what a plan for each of them does.
func TestRagged(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			for seed := range uint64(40) {
				d := newDrawer(seed + 2100)
				b := d.problems(1+d.IntN(4), w, one(d, floats))
				b.check(t, d, b.plan(t, one(d, []tensor.DType{tensor.Int32, tensor.Int64})))
			}
		})
	}
}

func (b batch) check(t *testing.T, d drawer, plan *pickstack.RaggedPlan) {
	t.Helper()
	xs, g := b.inputs(), among(t, d, b.g())
	for n := range xs {
		xs[n] = among(t, d, xs[n])
	}
	out, err := plan.Forward(xs...)
	require.NoError(t, err)
	b.sameForward(t, out)
	dxs, err := plan.Gradient(g, xs...)
	require.NoError(t, err)
	b.sameGradient(t, dxs)
	b.into(t, plan, g, xs)
}

// into checks what writes to tensors that are there: rows between others, which stay as they are.
func (b batch) into(t *testing.T, plan *pickstack.RaggedPlan, g *ragged.Tensor, xs []*ragged.Tensor) {
	t.Helper()
	part, rest := within(t, b.g())
	require.NoError(t, plan.ForwardInto(part, xs...))
	b.sameForward(t, part)
	rest(t)
	dxs, rests := make([]*ragged.Tensor, len(xs)), make([]func(t *testing.T), len(xs))
	for n, x := range b.inputs() {
		dxs[n], rests[n] = within(t, x)
	}
	require.NoError(t, plan.GradientInto(dxs, g, xs...))
	b.sameGradient(t, dxs)
	once := make([][]float64, len(dxs))
	for n, dx := range dxs {
		once[n] = listed(t, tensor.Must(dx.Values()))
	}
	dxs[0] = nil
	require.NoError(t, plan.AddGradient(dxs, g, xs...))
	for n, dx := range dxs[1:] {
		b.twice(t, dx, n+1, once[n+1])
	}
	for _, rest := range rests {
		rest(t)
	}
}

// twice fails the test unless dx is old and the gradient of input n.
func (b batch) twice(t *testing.T, dx *ragged.Tensor, n int, old []float64) {
	t.Helper()
	b.same(t, dx, func(q int, row *tensor.Tensor) {
		want := b[q].gradient()[n]
		for i := range want {
			want[i] += old[i]
		}
		old = old[len(want):]
		equal(t, want, b[q].in(n), row, b[q].loose(), false)
	})
}

// within returns a part of a larger tensor that has the lengths of x, and a check that what is
// around it has not changed.
func within(t *testing.T, x *ragged.Tensor) (*ragged.Tensor, func(t *testing.T)) {
	t.Helper()
	q := x.Shape().Clone()[0]
	all := tensor.Must(shapeops.Cat([]*ragged.Tensor{x, x, x}, 0))
	before := fmt.Sprint(tensor.Must(all.Range(0, q)), tensor.Must(all.Range(2*q, ix.End)))
	return tensor.Must(all.Range(q, 2*q)), func(t *testing.T) {
		t.Helper()
		require.Equal(t, before, fmt.Sprint(tensor.Must(all.Range(0, q)), tensor.Must(all.Range(2*q, ix.End))))
	}
}

// TestRaggedOfNone: a batch without a problem.
func TestRaggedOfNone(t *testing.T) {
	none := tensor.Must(ragged.FromLengths(dense(tensor.Float32, []int{0, 2}, nil), []int64{}))
	index := tensor.Must(ragged.FromLengths(tensorOf(tensor.Int64, nil), []int64{}))
	plan, err := pickstack.NewRaggedPick([]*ragged.Tensor{index}, []*ragged.Layout{none.Layout()}, pickstack.PickOptions{})
	require.NoError(t, err)
	out, err := plan.Forward(none)
	require.NoError(t, err)
	require.Equal(t, "[0 *] [2]", fmt.Sprint(out.Layout(), out.Features()))
	dxs, err := plan.Gradient(out, none)
	require.NoError(t, err)
	require.Equal(t, "[0 *] [2]", fmt.Sprint(dxs[0].Layout(), dxs[0].Features()))
}
