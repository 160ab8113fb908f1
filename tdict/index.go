package tdict

import (
	"cmp"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Execute returns what p.Plan makes of td: of its batch shape, and of each leaf alike. The leaves
// share td's memory, unless the plan picks by lists or masks, lays pieces together, or reshapes
// what strides cannot express. The result is not locked. Execute returns shapeops.ErrShape if the
// batch shape does not begin with that of the plan.
func (v *dictOps) Execute(p *plan.Pass) (*TensorDict, error) {
	td := (*TensorDict)(v)
	if err := p.CheckPlan(td.batch); err != nil {
		return nil, err
	}
	if err := td.useArena(p); err != nil {
		return nil, err
	}
	return td.execute(p)
}

func (td *TensorDict) execute(p *plan.Pass) (*TensorDict, error) {
	entries, name, err := td.entries.mapped(func(c column, v Value) (Value, error) {
		defer p.Leave(p.Enter(c.name))
		return opsOf(v).execute(v, p)
	})
	if err != nil {
		return nil, within(cmp.Or(p.Op, "execute"), name, err)
	}
	return td.planned(p, entries), nil
}

// executeIn is Execute of a dictionary in another. It is nil if none of the members that are taken
// has one of its leaves.
func executeIn(td *TensorDict, p *plan.Pass) (Value, error) {
	out, err := td.Ops().Execute(p)
	if err != nil || out.entries.len() == 0 && td.entries.len() > 0 {
		return nil, err
	}
	return out, nil
}

// planned returns a dictionary of entries with what p.Plan makes of td's batch shape.
func (td *TensorDict) planned(p *plan.Pass, entries store) *TensorDict {
	return &TensorDict{batch: p.Extend(td.batch), entries: entries, header: td.named(td.plannedNames(p.Plan))}
}

// useArena gives p an arena with room for the result of each tensor, unless it has one.
func (td *TensorDict) useArena(p *plan.Pass) error {
	if tensor.HasArena(p) {
		return nil
	}
	tensor.UseArena(p)
	return td.expect(p, 0)
}

// expect reserves room in the arena of p for the results of td, which is at the given depth.
func (td *TensorDict) expect(p *plan.Pass, depth int) error {
	if depth > MaxDepth {
		return errDepth
	}
	for _, v := range td.entries.all() {
		if t, ok := asTensor(v); ok {
			tensor.Reserve(p, t)
		} else if d, ok := asDict(v); ok {
			if err := d.expect(p, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// executed is Execute after the planning of the operation op.
func (td *TensorDict) executed(op string, p *plan.Plan, err error) (*TensorDict, error) {
	if err != nil {
		return nil, failed(op, err)
	}
	return td.passed(op, tensor.NewPass(p))
}

// passed is Execute of the operation op, with a pass whose arena has nothing reserved
// yet.
func (td *TensorDict) passed(op string, p *plan.Pass) (*TensorDict, error) {
	if err := td.expect(p, 0); err != nil {
		return nil, failed(op, err)
	}
	out, err := td.execute(p)
	if err != nil {
		return nil, failed(op, err)
	}
	return out, nil
}

// Index returns the part of td that an index expression over the batch shape selects. The leaves
// share td's memory if the expression has neither a list nor a mask, and are copies if it has. The
// result is not locked. The errors are shapeops.ErrIndex.
func (td *TensorDict) Index(expr ...ix.Index) (*TensorDict, error) {
	p, err := plan.Index(td.batch, expr...)
	return td.executed("index", p, err)
}

// IndexInto is [TensorDict.Index] into a dictionary that the caller owns, which must have td's
// keys, and for each leaf the kind, dtype and shape of the result. In a loop that reuses dst only
// headers are allocated, and the numbers of rows that are listed. Its errors are also [ErrMissing]
// if the keys differ, [ErrKind] if kinds do, and those of tensor.Transfer; on an error nothing has
// changed.
func (td *TensorDict) IndexInto(dst *TensorDict, expr ...ix.Index) error {
	p, err := plan.Index(td.batch, expr...)
	return td.executedInto("index", dst, p, err)
}

// executedInto is executed into a dictionary that the caller owns.
func (td *TensorDict) executedInto(op string, dst *TensorDict, p *plan.Plan, err error) error {
	if err != nil {
		return failed(op, err)
	}
	return td.passedInto(op, dst, &plan.Pass{Plan: p})
}

func (td *TensorDict) passedInto(op string, dst *TensorDict, p *plan.Pass) error {
	if dst == nil {
		return failed(op, errNil)
	}
	var tr tensor.Transfer
	p.Reserve(2 * td.entries.len())
	if err := td.Ops().AddExecute(&tr, dst, p); err != nil {
		return failed(op, err)
	}
	return failed(op, tr.Run())
}

// AddExecute adds to tr what sets dst to what p.Plan makes of td, as [TensorDict.IndexInto] does.
func (o *dictOps) AddExecute(tr *tensor.Transfer, dst *TensorDict, p *plan.Pass) error {
	td := (*TensorDict)(o)
	if dst == nil {
		return errNil
	}
	if err := p.CheckPlan(td.batch); err != nil {
		return err
	}
	if err := dst.batch.CheckEqual(p.Extend(td.batch)); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if err := dst.sameNames("destination", td); err != nil {
		return err
	}
	for c, v := range td.entries.columns() {
		d, err := c.of(dst)
		if err == nil {
			was := p.Enter(c.name)
			err = opsOf(v).into(tr, d, v, p)
			p.Leave(was)
		}
		if err != nil {
			return within(cmp.Or(p.Op, "index"), c.name, err)
		}
	}
	return nil
}

// sameNames returns ErrMissing unless td, which errors call what, has the names of other.
func (td *TensorDict) sameNames(what string, other *TensorDict) error {
	return td.sameNamesAs(what, "source", other)
}

// sameNamesAs is sameNames with what errors call other.
func (td *TensorDict) sameNamesAs(what, whatOther string, other *TensorDict) error {
	if td.entries.namedAs(&other.entries) {
		return nil
	}
	for name := range other.entries.all() {
		if !td.entries.has(name) {
			return &KeyError{"index", name, fmt.Errorf("%s: %w", what, td.missing(name))}
		}
	}
	if td.entries.len() == other.entries.len() {
		return nil
	}
	for name := range td.entries.all() {
		if !other.entries.has(name) {
			return &KeyError{"index", name, fmt.Errorf("%s: %w", whatOther, other.missing(name))}
		}
	}
	return nil
}
