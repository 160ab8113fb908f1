package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/tensor"
)

// dictOps has the operations of a TensorDict.
type dictOps TensorDict

// Plan returns the operations that package shapeops calls. Programs need not call it.
func (td *TensorDict) Plan() plan.Ops[*TensorDict] { return (*dictOps)(td) }

// Ops returns the operations through which packages arith and tdict work on elements. Programs need
// not call it.
func (td *TensorDict) Ops() tensor.Ops[*TensorDict] { return (*dictOps)(td) }

// ExecuteInto implements plan.Ops.
func (v *dictOps) ExecuteInto(p *plan.Pass, dst *TensorDict) error {
	return (*TensorDict)(v).passedInto(p.Op, dst, p)
}

// Write implements plan.Ops.
func (v *dictOps) Write(p *plan.Pass, src *TensorDict) error {
	return run(func(tr *tensor.Transfer) error { return v.AddWrite(tr, src, p) })
}

// Texts implements tensor.Ops.
func (v *dictOps) Texts() ([]string, error) { return []string{describeDict((*TensorDict)(v))}, nil }

// Differing implements tensor.Ops. A dictionary has leaves, not elements, so it returns ErrKind.
func (v *dictOps) Differing(*TensorDict, tensor.Tolerance, int) ([]tensor.ElementDiff, int, error) {
	return nil, 0, fmt.Errorf("%w: got %s, want a leaf", ErrKind, describeDict((*TensorDict)(v)))
}

// dataOps has the operations of Data.
type dataOps Data

// Plan returns the operations that package shapeops calls. Programs need not call it.
func (d *Data) Plan() plan.Ops[*Data] { return (*dataOps)(d) }

// ExecuteInto implements plan.Ops.
func (v *dataOps) ExecuteInto(p *plan.Pass, dst *Data) error {
	return run(func(tr *tensor.Transfer) error { return v.AddExecute(tr, dst, p) })
}

// Write implements plan.Ops.
func (v *dataOps) Write(p *plan.Pass, src *Data) error {
	return run(func(tr *tensor.Transfer) error { return v.AddWrite(tr, src, p) })
}

// JoinInto implements plan.Ops.
func (v *dataOps) JoinInto(p *plan.Pass, dst *Data, xs []*Data) error {
	return run(func(tr *tensor.Transfer) error { return v.AddJoin(tr, dst, p, xs) })
}

// unbatchedOps has the operations of an Unbatched.
type unbatchedOps Unbatched

// Plan returns the operations that package shapeops calls. Programs need not call it.
func (u *Unbatched) Plan() plan.Ops[*Unbatched] { return (*unbatchedOps)(u) }

// ExecuteInto implements plan.Ops.
func (v *unbatchedOps) ExecuteInto(p *plan.Pass, dst *Unbatched) error {
	return run(func(tr *tensor.Transfer) error { return v.AddExecute(tr, dst, p) })
}

// Write implements plan.Ops.
func (v *unbatchedOps) Write(p *plan.Pass, src *Unbatched) error {
	return run(func(tr *tensor.Transfer) error { return v.AddWrite(tr, src, p) })
}

// JoinInto implements plan.Ops.
func (v *unbatchedOps) JoinInto(p *plan.Pass, dst *Unbatched, xs []*Unbatched) error {
	return run(func(tr *tensor.Transfer) error { return v.AddJoin(tr, dst, p, xs) })
}

// run runs a transfer of the copies that add adds.
func run(add func(tr *tensor.Transfer) error) error {
	var tr tensor.Transfer
	if err := add(&tr); err != nil {
		return err
	}
	return tr.Run()
}
