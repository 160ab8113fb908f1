package pickstack

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A RaggedPlan is a [Plan] for a batch of problems that differ in size: each problem has its own
// number of rows of each input and of the output. [NewRaggedPick] and [NewRaggedPool] make
// RaggedPlans.
//
// Safe for concurrent use.
type RaggedPlan struct {
	plan   Plan             // of all problems as one, with a batch size of 1
	inputs []*ragged.Layout // one for each input
	layout *ragged.Layout   // of the output
}

// NewRaggedPick returns the plan that picks one row of each input for each row of the output, in
// each of Q problems:
//
//	indices[n] [Q *], int32 or int64: for problem q, A_q numbers from 0 to P_qn-1
//	inputs[n] [Q *]: for problem q, P_qn rows
//	x_n [Q * C_n] -> out [Q * sum(C_n)], which has the lengths of the indices
//
// The numbers in an index count the rows of the same problem. A nil index passes its input on row
// by row. NewRaggedPick returns the errors of [NewPick], with the problem, and ragged.ErrLengths if
// indices differ in length.
func NewRaggedPick(indices []*ragged.Tensor, inputs []*ragged.Layout, opt PickOptions) (*RaggedPlan, error) {
	return newRaggedPlan("pick", 1, indices, inputs, PoolOptions{Workers: opt.Workers})
}

// NewRaggedPool returns the plan that reduces a pool of rows of each input for each row of the
// output, in each of Q problems:
//
//	pools[n] [Q * *], int32 or int64: for problem q, A_q pools of numbers from 0 to P_qn-1
//	inputs[n] [Q *]: for problem q, P_qn rows
//	x_n [Q * C_n] -> out [Q * sum(C_n)], which has the lengths of the pools
//
// NewRaggedPool returns the errors of [NewPool], with the problem, and ragged.ErrLengths if inputs
// differ in the number of pools of a problem.
func NewRaggedPool(pools []*ragged.Tensor, inputs []*ragged.Layout, opt PoolOptions) (*RaggedPlan, error) {
	if err := opt.check(); err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	return newRaggedPlan("pool", 2, pools, inputs, opt)
}

// newRaggedPlan returns a plan of indices with the given number of levels.
func newRaggedPlan(op string, levels int, indices []*ragged.Tensor, inputs []*ragged.Layout, rule PoolOptions) (*RaggedPlan, error) {
	if err := checkIndices(len(indices), len(inputs)); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	p := &RaggedPlan{inputs: slices.Clone(inputs)}
	p.plan.op, p.plan.tables, p.plan.rule = op, make([]table, len(indices)), rule.own()
	for n, index := range indices {
		if err := p.add(n, levels, index); err != nil {
			return nil, fmt.Errorf("%s: %w", op, &InputError{n, err})
		}
	}
	p.plan.classify()
	return p, nil
}

// add reads the table of an input.
func (p *RaggedPlan) add(n, levels int, index *ragged.Tensor) error {
	starts, err := problemStarts(p.inputs[n])
	if err != nil {
		return err
	}
	width, layout := starts[len(starts)-1], p.inputs[n]
	t := &p.plan.tables[n]
	*t = table{rows: width, width: width}
	if index != nil {
		if t.list, err = readRagged(index, levels, [...]string{1: "[Q *]", 2: "[Q * *]"}[levels]); err != nil {
			return err
		}
		t.rows = len(t.list)
		if levels == 2 {
			if t.splits, err = readOffsets(index, 2); err != nil {
				return err
			}
			t.rows = len(t.splits) - 1
		}
		if layout, err = index.Layout().At(1); err != nil {
			return err
		}
	}
	if n == 0 {
		p.layout, p.plan.rows = layout.Compact(), t.rows
		p.plan.problems, err = problemStarts(layout)
	}
	if err != nil {
		return err
	}
	if err := layout.CheckEqual(p.layout); err != nil {
		return fmt.Errorf("rows of the output: %w of input 0", err)
	}
	if got, want := len(starts)-1, len(p.plan.problems)-1; got != want {
		return fmt.Errorf("%w: got an input of %d problems, want %d", shapeops.ErrShape, got, want)
	}
	return t.place(p.plan.problems, starts)
}

// problemStarts returns the rows at which the problems of a layout [Q *] begin, and the number of
// rows.
func problemStarts(l *ragged.Layout) ([]int, error) {
	if l == nil {
		return nil, fmt.Errorf("%w: got a nil layout", tensor.ErrKind)
	}
	if l.Depth() != 1 || len(l.Shape()) != 1 {
		return nil, fmt.Errorf("%w: got a layout %v, want [Q *]", shapeops.ErrDim, l)
	}
	offsets, err := l.Offsets(1)
	return toInts(offsets), err
}

// String describes the plan: "pick of 2 inputs, 100 rows of 4 problems".
func (p *RaggedPlan) String() string {
	return fmt.Sprintf("%v of %d problems", &p.plan, max(0, len(p.plan.problems)-1))
}

// Layout returns the layout of the output, [Q *]: the number of output rows of each problem.
func (p *RaggedPlan) Layout() *ragged.Layout { return p.layout }

// Forward is [Plan.Forward] for all problems:
//
//	xs[n] [Q * C_n] -> [Q * sum(C_n)]
//
// All results of a plan share their layout. Forward returns ragged.ErrLengths if an input does not
// have the lengths in the plan, shapeops.ErrDim if its rows are not vectors, and otherwise the
// errors of Plan.Forward.
func (p *RaggedPlan) Forward(xs ...*ragged.Tensor) (*ragged.Tensor, error) {
	values, err := p.valuesOf(xs)
	if err != nil {
		return nil, p.plan.named(err)
	}
	out, err := p.plan.Forward(values...)
	if err != nil {
		return nil, err
	}
	y, err := unflatten(out, p.layout)
	return y, p.plan.named(err)
}

// ForwardInto is [Plan.ForwardInto] for all problems. It returns tensor.ErrLayout if the rows of
// out are not in order, as after a permutation.
func (p *RaggedPlan) ForwardInto(out *ragged.Tensor, xs ...*ragged.Tensor) error {
	values, err := p.valuesOf(xs)
	if err != nil {
		return p.plan.named(err)
	}
	y, err := flatten(out, p.layout, (*ragged.Tensor).ValuesView)
	if err != nil {
		return p.plan.named(fmt.Errorf("output: %w", err))
	}
	return p.plan.ForwardInto(y, values...)
}

// Gradient is [Plan.Gradient] for all problems:
//
//	g [Q * sum(C_n)], xs[n] [Q * C_n] -> dxs[n] [Q * C_n]
func (p *RaggedPlan) Gradient(g *ragged.Tensor, xs ...*ragged.Tensor) ([]*ragged.Tensor, error) {
	gs, values, err := p.gradientValues(g, xs)
	if err != nil {
		return nil, p.plan.named(err)
	}
	flat, err := p.plan.Gradient(gs, values...)
	if err != nil {
		return nil, err
	}
	dxs := make([]*ragged.Tensor, len(flat))
	for n, dx := range flat {
		if dxs[n], err = unflatten(dx, p.inputs[n].Compact()); err != nil {
			return nil, p.plan.named(err)
		}
	}
	return dxs, nil
}

// GradientInto is [Plan.GradientInto] for all problems. It also returns the errors of
// [RaggedPlan.ForwardInto], for dxs.
func (p *RaggedPlan) GradientInto(dxs []*ragged.Tensor, g *ragged.Tensor, xs ...*ragged.Tensor) error {
	return p.gradientOnto(dxs, g, xs, (*Plan).GradientInto)
}

// AddGradient is [Plan.AddGradient] for all problems. It also returns the errors of
// [RaggedPlan.ForwardInto], for dxs.
func (p *RaggedPlan) AddGradient(dxs []*ragged.Tensor, g *ragged.Tensor, xs ...*ragged.Tensor) error {
	return p.gradientOnto(dxs, g, xs, (*Plan).AddGradient)
}
