package ragged

import (
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/tensor"
)

// verbs implements the methods that other packages of this library call. They are not in the method
// set of Tensor.
type verbs Tensor

var _ plan.Nested[*Tensor, *Layout] = (*verbs)(nil)

// Plan returns t's implementation of the operations of package shapeops.
func (t *Tensor) Plan() plan.Verbs[*Tensor] { return (*verbs)(t) }

// Verbs returns t's implementation of the operations of packages arith and tdict.
func (t *Tensor) Verbs() tensor.Verbs[*Tensor] { return (*verbs)(t) }

// ExecuteInto implements plan.Verbs.
func (v *verbs) ExecuteInto(p *plan.Pass, dst *Tensor) error {
	return run(func(tr *tensor.Transfer) error { return v.AddExecute(tr, dst, p) })
}

// Write implements plan.Verbs.
func (v *verbs) Write(p *plan.Pass, src *Tensor) error {
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
