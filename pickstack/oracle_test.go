package pickstack_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestOracle compares with loops: every dtype, reduction, layout of the inputs and layout of what
// is written, and whatever else is drawn.
func TestOracle(t *testing.T) {
	seed := uint64(0)
	for _, d := range floats {
		for _, w := range ways() {
			t.Run(fmt.Sprint(d, "/", w.name), func(t *testing.T) {
				for _, in := range append(layouts, expanded) {
					for _, out := range layouts {
						seed++
						if !t.Run(fmt.Sprintf("%s to %s", in.name, out.name), func(t *testing.T) { newTrial(t, seed, w, d, in, out).run() }) {
							t.Logf("seed %d", seed)
						}
					}
				}
			})
		}
	}
}

// A trial is a problem with everything laid out.
type trial struct {
	*testing.T
	drawer
	problem
	plan    *pickstack.Plan
	in, out layout
	xs      []*tensor.Tensor
	laid    []laid // the same
}

func newTrial(t *testing.T, seed uint64, w way, dtype tensor.DType, in, out layout) *trial {
	d := newDrawer(seed)
	x := &trial{T: t, drawer: d, problem: d.problem(w, dtype), in: in, out: out}
	for n := range x.problem.xs {
		if in.name == expanded.name {
			x.spread(n)
		}
		x.laid = append(x.laid, x.input(n))
		x.xs = append(x.xs, x.laid[n].Tensor)
	}
	x.plan = x.problem.plan(t, one(d, []tensor.DType{tensor.Int32, tensor.Int64}))
	return x
}

// input lays input n out, in memory that may be read-only.
func (x *trial) input(n int) laid {
	m := one(x.drawer, aligned)
	l := lay(x, x.dtype, x.problem.in(n), x.problem.xs[n], x.in, m)
	if m.Name == testkit.Lent.Name && x.IntN(2) == 0 {
		return l.locked()
	}
	return l
}

// target lays out what is written to, with numbers in it.
func (x *trial) target(shape []int) (laid, []float64) {
	old := make([]float64, shape[0]*shape[1]*shape[2])
	for i := range old {
		old[i] = x.level(true)
	}
	return lay(x, x.dtype, shape, old, x.out, one(x.drawer, aligned)), old
}

func (x *trial) run() {
	out, err := x.plan.Forward(x.xs...)
	require.NoError(x, err)
	x.sameForward(x, out)
	into, _ := x.target(x.problem.out())
	before := into.around(x)
	require.NoError(x, x.plan.ForwardInto(into.Tensor, x.xs...))
	x.sameForward(x, into.Tensor)
	require.Equal(x, before, into.around(x), "what is around the output")
	x.gradients()
	x.returned()
}

// gradients checks Gradient, GradientInto and AddGradient.
func (x *trial) gradients() {
	g := lay(x, x.dtype, x.problem.out(), x.g, x.gradientLayout(), one(x.drawer, aligned))
	dxs, err := x.plan.Gradient(g.Tensor, x.xs...)
	require.NoError(x, err)
	x.sameGradient(x, dxs, nil)
	for _, add := range []bool{false, true} {
		x.into(g.Tensor, add)
	}
}

// gradientLayout returns a layout of g, which may be an expanded one.
func (x *trial) gradientLayout() layout {
	if x.IntN(5) > 0 {
		return one(x.drawer, layouts)
	}
	row := x.rows * x.width()
	for b := 1; b < x.batch; b++ {
		copy(x.g[b*row:(b+1)*row], x.g[:row])
	}
	return expanded
}

// into checks GradientInto, or AddGradient, where some of the gradients are not wanted.
func (x *trial) into(g *tensor.Tensor, add bool) {
	all, dxs, olds, before := make([]laid, len(x.xs)), make([]*tensor.Tensor, len(x.xs)), make([][]float64, len(x.xs)), make([][]byte, len(x.xs))
	for n := range x.xs {
		all[n], olds[n] = x.target(x.problem.in(n))
		if x.IntN(4) > 0 {
			dxs[n], before[n] = all[n].Tensor, all[n].around(x)
		}
	}
	call := x.plan.GradientInto
	if add {
		call = x.plan.AddGradient
	} else {
		olds = nil
	}
	require.NoError(x, call(dxs, g, x.xs...))
	x.sameGradient(x, dxs, olds)
	for n, dx := range dxs {
		if dx != nil {
			require.Equal(x, before[n], all[n].around(x), "what is around gradient %d", n)
		}
	}
}

// returned checks that lent memory was returned.
func (x *trial) returned() {
	for _, l := range x.laid {
		if lent, ok := l.Lender().(*testkit.Lender); ok {
			require.Zero(x, lent.Borrowed())
		}
	}
}

// TestOracleOfIndices: indices and pools of any layout.
func TestOracleOfIndices(t *testing.T) {
	for seed := range uint64(200) {
		d := newDrawer(seed + 10_000)
		p := d.problem(one(d, ways()), tensor.Float32)
		kind := one(d, []tensor.DType{tensor.Int32, tensor.Int64})
		plan := p.oddPlan(t, d, kind)
		out, err := plan.Forward(p.inputs()...)
		require.NoError(t, err)
		p.sameForward(t, out)
		dxs, err := plan.Gradient(dense(p.dtype, p.out(), p.g), p.inputs()...)
		require.NoError(t, err)
		p.sameGradient(t, dxs, nil)
	}
}

// oddPlan is plan from indices that are parts of other tensors, and are overwritten afterwards.
func (p problem) oddPlan(t *testing.T, d drawer, kind tensor.DType) *pickstack.Plan {
	t.Helper()
	indices, pools := p.indices(kind), p.pools(kind)
	var values []*tensor.Tensor
	for n, pool := range p.index {
		switch {
		case pool == nil:
		case p.pick:
			whole := testkit.Make(t, kind, []int{p.rows}, testkit.Stepped, one(d, memories), 1)
			require.NoError(t, whole.CopyFrom(indices[n]))
			indices[n], values = whole.Tensor, append(values, whole.Tensor)
		default:
			pools[n] = d.odd(pool, kind)
			values = append(values, tensor.Must(pools[n].Values()))
		}
	}
	var plan *pickstack.Plan
	var err error
	if p.pick {
		plan, err = pickstack.NewPick(indices, p.widths, pickstack.PickOptions{})
	} else {
		plan, err = pickstack.NewPool(pools, p.widths, p.opt)
	}
	require.NoError(t, err)
	for _, x := range values {
		require.NoError(t, x.CopyFrom(tensor.Must(tensorOf(kind, []int{-7}).Squeeze())))
	}
	return plan
}

// odd returns pools that are rows of more, in another order, or made of row splits.
func (d drawer) odd(pools [][]int, kind tensor.DType) *ragged.Tensor {
	switch d.IntN(3) {
	case 0: // between other rows
		more := append(append([][]int{{-5, -6}}, pools...), []int{-7})
		return tensor.Must(poolsOf(kind, more).Range(1, 1+len(pools)))
	case 1: // every second row
		more := [][]int{}
		for _, pool := range pools {
			more = append(more, pool, []int{-7})
		}
		return tensor.Must(poolsOf(kind, more).Index(ix.Range(0, ix.End).Step(2)))
	}
	splits, values := []int{0}, []int{}
	for _, pool := range pools {
		values = append(values, pool...)
		splits = append(splits, len(values))
	}
	return tensor.Must(pickstack.FromSplits(tensorOf(kind, values), tensorOf(one(d, []tensor.DType{tensor.Int32, tensor.Int64}), splits)))
}
