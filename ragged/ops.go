package ragged

import (
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/tensor"
)

// ops implements the methods that other packages of this library call. They are not in the method
// set of Tensor.
type ops Tensor

var _ plan.Nested[*Tensor, *Layout] = (*ops)(nil)

// Ops returns t's implementation of the operations of packages shapeops, arith and tdict.
func (t *Tensor) Ops() tensor.Ops[*Tensor] { return (*ops)(t) }

// ExecuteInto implements tensor.Ops.
func (v *ops) ExecuteInto(p *plan.Pass, dst *Tensor) error {
	return run(func(tr *tensor.Transfer) error { return v.AddExecute(tr, dst, p) })
}

// Write implements tensor.Ops.
func (v *ops) Write(p *plan.Pass, src *Tensor) error {
	return run(func(tr *tensor.Transfer) error { return v.AddWrite(tr, src, p) })
}

// run runs a transfer, to which add adds.
func run(add func(tr *tensor.Transfer) error) error {
	var tr tensor.Transfer
	if err := add(&tr); err != nil {
		return err
	}
	return tr.Run()
}
