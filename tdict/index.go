package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/arena"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Execute applies p.Plan to the batch shape of td and to each leaf. The leaves share td's memory,
// unless the plan picks by lists or masks, lays pieces together, or reshapes beyond what strides
// express. The result is not locked. Execute returns shapeops.ErrShape if the batch shape does not
// begin with the plan's shape.
func (td dictOps) Execute(p *plan.Pass) (*TensorDict, error) {
	if err := p.CheckPlan(td.batch); err != nil {
		return nil, err
	}
	if err := td.useArena(p); err != nil {
		return nil, err
	}
	return td.execute(p)
}

func (td *TensorDict) execute(p *plan.Pass) (*TensorDict, error) {
	entries, name, err := td.entries.mapped(func(_ column, v Value) (Value, error) { return opsOf(v).execute(v, p) })
	if err != nil {
		return nil, within("", name, err)
	}
	return td.planned(p, entries)
}

// executeIn is Execute for a dictionary in another. It returns nil if the members that the plan
// selects lack the dictionary.
func executeIn(td *TensorDict, p *plan.Pass) (Value, error) {
	out, err := td.Ops().Execute(p)
	if err != nil || out.entries.len() > 0 {
		return asValue(out, err)
	}
	lacked := td.entries.len() > 0 // by all members that p selects
	if td.stack != nil {
		if c := cutAt(p, td.stack.dim); c.ok {
			if members, some, err := td.stack.cut(c); err == nil && len(members) > 0 {
				lacked = !some
			}
		}
	}
	if lacked {
		return nil, nil
	}
	return out, nil
}

// planned returns a dictionary with the given entries and td's batch shape after p.Plan.
func (td *TensorDict) planned(p *plan.Pass, entries store) (*TensorDict, error) {
	out := &TensorDict{batch: p.Extend(td.batch), entries: entries, header: td.named(td.tracedNames(p.Plan, len(p.Plan.From()), len(p.Plan.Shape())))}
	var err error
	out.stack, err = td.stack.planned(p, out.batch)
	return out, err
}

// useArena gives p an arena with room for the result of each tensor, unless it has one.
func (td *TensorDict) useArena(p *plan.Pass) error {
	if arena.Of[tensor.Tensor](p) != nil {
		return nil
	}
	arena.Use[tensor.Tensor](p)
	return td.reserve(p, 0)
}

// reserve makes room in the arena of p for the results of td, which is at the given depth.
func (td *TensorDict) reserve(p *plan.Pass, depth int) error {
	if depth > MaxDepth {
		return errDepth
	}
	for _, v := range td.entries.all() {
		if t, ok := v.(*tensor.Tensor); ok {
			arena.Of[tensor.Tensor](p).Reserve(p, t.Shape(), t.DType().Size())
		} else if d, ok := v.(*TensorDict); ok {
			if err := d.reserve(p, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// executed is Execute with a plan that was just made for the operation op, unless err is not nil.
func (td *TensorDict) executed(op string, p *plan.Plan, err error) (*TensorDict, error) {
	if err != nil {
		return nil, failed(op, err)
	}
	return td.passed(op, arena.NewPass[tensor.Tensor](p))
}

// passed is Execute for the operation op, with a pass in whose arena nothing is reserved yet.
func (td *TensorDict) passed(op string, p *plan.Pass) (*TensorDict, error) {
	if err := td.reserve(p, 0); err != nil {
		return nil, failed(op, err)
	}
	out, err := td.execute(p)
	if err != nil {
		return nil, failed(op, err)
	}
	return out, nil
}

// Index returns the part of td that an index expression over the batch shape selects. The leaves
// are copies if the expression has a list or a mask; otherwise they share td's memory. The result
// is not locked. Index returns shapeops.ErrIndex if the expression does not fit the batch shape.
func (td *TensorDict) Index(expr ...ix.Index) (*TensorDict, error) {
	p, err := plan.Index(td.batch, expr...)
	return td.executed("index", p, err)
}

// IndexInto is [TensorDict.Index] into a dictionary that the caller owns. dst must have td's keys,
// and under each the kind, dtype and shape of the result. If dst is reused in a loop, a call
// allocates only headers of tensors and, for a list or a mask, the positions of the rows. IndexInto
// also returns [ErrMissing] if the keys of dst and td differ, [ErrKind] if the kinds of two values
// differ, and the errors of tensor.Transfer. On an error nothing has changed.
func (td *TensorDict) IndexInto(dst *TensorDict, expr ...ix.Index) error {
	p, err := plan.Index(td.batch, expr...)
	return td.executedInto("index", dst, p, err)
}

// executedInto is executed with a destination.
func (td *TensorDict) executedInto(op string, dst *TensorDict, p *plan.Plan, err error) error {
	if err != nil {
		return failed(op, err)
	}
	return td.passedInto(op, dst, &plan.Pass{Plan: p})
}

func (td *TensorDict) passedInto(op string, dst *TensorDict, p *plan.Pass) error {
	return failed(op, td.Ops().ExecuteInto(p, dst))
}

// AddExecute adds to tr: dst = td with p.Plan applied, with the rules of [TensorDict.IndexInto].
func (td dictOps) AddExecute(tr *tensor.Transfer, dst *TensorDict, p *plan.Pass) error {
	if dst == nil {
		return errNil
	}
	if err := p.CheckPlan(td.batch); err != nil {
		return err
	}
	if err := dst.batch.CheckEqual(p.Extend(td.batch)); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if err := dst.sameNames(td.TensorDict); err != nil {
		return err
	}
	for c, v := range td.entries.columns() {
		d, err := c.of(dst)
		if err == nil {
			err = opsOf(v).into(tr, d, v, p)
		}
		if err != nil {
			return within("", c.name, err)
		}
	}
	return nil
}

// sameNames returns ErrMissing unless td, a destination, has the names of other, its source.
func (td *TensorDict) sameNames(other *TensorDict) error {
	return td.sameNamesAs("in the destination", "in the destination only, not in the source", other)
}

// sameNamesAs is sameNames with the given texts in errors: lacks if td lacks a name, extra if only
// td has it.
func (td *TensorDict) sameNamesAs(lacks, extra string, other *TensorDict) error {
	if td.entries.table == other.entries.table {
		return nil
	}
	for name := range other.entries.all() {
		if !td.entries.has(name) {
			return failedKey("index", name, fmt.Errorf("%s: %w", lacks, td.missing(name)))
		}
	}
	if td.entries.len() == other.entries.len() {
		return nil
	}
	for name := range td.entries.all() {
		if !other.entries.has(name) {
			return failedKey("index", name, fmt.Errorf("%s: %w", extra, other.missing(name)))
		}
	}
	return nil
}
