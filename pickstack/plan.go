package pickstack

import (
	"fmt"
	"sync"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Plan says which rows of N inputs each row of the output is computed from, and how. [NewPick]
// and [NewPool] make Plans. A Plan keeps copies of the indices, 8 bytes for each entry, and from
// the first gradient on their inverses, about 24 bytes more. Memory that a call needs is kept for
// the next, until the garbage collector frees it.
//
// Safe for concurrent use.
type Plan struct {
	op       string  // pick or pool
	tables   []table // of each input
	rows     int     // of the output
	problems []int   // rows of the output at which problems begin, and the end
	linear   bool    // gradients do not depend on the inputs
	rule     PoolOptions

	inverting sync.Once
	inverses  []*inverse

	calls [len(dtypes)]sync.Pool // of calls, by dtype
}

// NewPick returns the plan that picks one row of each input for each row of the output:
//
//	indices[n] [A], int32 or int64, of numbers from 0 to widths[n]-1
//	x_n [B P_n C_n], P_n = widths[n] -> out [B A sum(C_n)]:
//	out[b a off_n+c] = x_n[b indices[n][a] c]
//
// off_n is the number of channels of the inputs before n. A nil index passes its input on row by
// row; then A is widths[n].
//
// NewPick returns
//
//   - shapeops.ErrShape unless there are 1 to 4,096 inputs, a width for each index, and all
//     indices are equally long
//   - shapeops.ErrDim if an index does not have one dim
//   - tensor.ErrDType if an index is neither int32 nor int64
//   - shapeops.ErrIndex, with input and position, if a number is not a row of its input; negative
//     numbers are refused
func NewPick(indices []*tensor.Tensor, widths []int, opt PickOptions) (*Plan, error) {
	return newPlan("pick", len(indices), widths, PoolOptions{Workers: opt.Workers}, func(n int, t *table) (err error) {
		if indices[n] != nil {
			t.list, err = readIndex(indices[n])
			t.rows = len(t.list)
		}
		return err
	})
}

// NewPool returns the plan that reduces a pool of rows of each input for each row of the output:
//
//	pools[n] [A *], int32 or int64, of numbers from 0 to widths[n]-1
//	x_n [B P_n C_n], P_n = widths[n] -> out [B A sum(C_n)]:
//	out[b a off_n+c] = max(MinValue, reduction of x_n[b p c] over all p in pools[n][a])
//
// [FromSplits] makes pools from values and row splits. Nil pools pass their input on row by row,
// not raised to MinValue; then A is widths[n].
//
// NewPool returns the errors of [NewPick], shapeops.ErrDim also for pools that are not [A *], and
// [ErrOptions].
func NewPool(pools []*ragged.Tensor, widths []int, opt PoolOptions) (*Plan, error) {
	if err := opt.check(); err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	return newPlan("pool", len(pools), widths, opt, func(n int, t *table) (err error) {
		if pools[n] == nil {
			return nil
		}
		if t.list, err = readRagged(pools[n], 1, "[A *]"); err == nil {
			t.splits, err = readOffsets(pools[n], 1)
			t.rows = len(t.splits) - 1
		}
		return err
	})
}

// newPlan returns a plan. Each table begins as the identity, and read fills it.
func newPlan(op string, inputs int, widths []int, rule PoolOptions, read func(n int, t *table) error) (*Plan, error) {
	if err := checkIndices(inputs, len(widths)); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	p := &Plan{op: op, tables: make([]table, inputs), rule: rule.own()}
	for n, width := range widths {
		t := &p.tables[n]
		*t = table{rows: width, width: width}
		if err := p.add(n, read); err != nil {
			return nil, fmt.Errorf("%s: %w", op, &InputError{n, err})
		}
	}
	p.classify()
	return p, nil
}

// add reads the table of an input.
func (p *Plan) add(n int, read func(n int, t *table) error) error {
	t := &p.tables[n]
	if t.width < 0 {
		return fmt.Errorf("%w: got width %d, want 0 or more", shapeops.ErrShape, t.width)
	}
	if err := read(n, t); err != nil {
		return err
	}
	if n == 0 {
		p.rows, p.problems = t.rows, []int{0, t.rows}
	}
	if t.rows != p.rows {
		return fmt.Errorf("%w: got %d rows of output, want %d, as for input 0", shapeops.ErrShape, t.rows, p.rows)
	}
	return t.place(p.problems, []int{0, t.width})
}

// classify sets linear: whether gradients do not depend on the inputs.
func (p *Plan) classify() {
	sums := (p.rule.Reduction == Sum || p.rule.Reduction == Mean) && p.rule.MinValue == nil
	p.linear = true
	for n := range p.tables {
		t := &p.tables[n]
		t.linear = t.splits == nil || sums
		p.linear = p.linear && t.linear
	}
}

// String describes the plan: "max pool of 3 inputs, 16 rows".
func (p *Plan) String() string {
	op := p.op
	if op == "pool" {
		op = p.rule.Reduction.String() + " pool"
	}
	return fmt.Sprintf("%s of %d inputs, %d rows", op, len(p.tables), p.rows)
}

// invert computes the inverses, once.
func (p *Plan) invert() {
	p.inverting.Do(func() {
		p.inverses = make([]*inverse, len(p.tables))
		for n := range p.tables {
			p.inverses[n] = p.tables[n].invert(p.problems)
		}
	})
}

// dtypes are the dtypes of inputs, in the order of Plan.calls.
var dtypes = [...]tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16}

// begin returns a call for dtypes[d]. done takes it back.
func (p *Plan) begin(d int) anyCall {
	if c, ok := p.calls[d].Get().(anyCall); ok {
		return c
	}
	switch dtypes[d] {
	case tensor.Float32:
		return newCall[float32, float32, int32](p)
	case tensor.Float64:
		return newCall[float64, float64, int64](p)
	case tensor.Float16:
		return newCall[tensor.F16, float32, int32](p)
	}
	return newCall[tensor.BF16, float32, int32](p)
}

// done keeps a call for the next call.
func (p *Plan) done(d int, c anyCall) {
	o := c.tensors() // keep no tensor alive
	clear(o.src[:cap(o.src)])
	clear(o.dst)
	clear(o.written)
	o.src, o.dst, o.written = o.src[:0], o.dst[:0], o.written[:0]
	p.calls[d].Put(c)
}
