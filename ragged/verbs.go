package ragged

import (
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/tensor"
)

// verbs is a Tensor with its verbs.
type verbs Tensor

var _ plan.Nested[*Tensor, *Layout] = (*verbs)(nil)

// Plan returns what package shapeops calls.
func (t *Tensor) Plan() plan.Verbs[*Tensor] { return (*verbs)(t) }

// Verbs returns what packages arith and tdict call.
func (t *Tensor) Verbs() tensor.Verbs[*Tensor] { return (*verbs)(t) }

// ExecuteInto implements plan.Verbs.
func (v *verbs) ExecuteInto(p *plan.Pass, dst *Tensor) error {
	return run(func(tr *tensor.Transfer) error { return v.AddExecute(tr, dst, p) })
}

// Write implements plan.Verbs.
func (v *verbs) Write(p *plan.Pass, src *Tensor) error {
	return run(func(tr *tensor.Transfer) error { return v.AddWrite(tr, src, p) })
}

// run runs what add adds to a transfer.
func run(add func(tr *tensor.Transfer) error) error {
	var tr tensor.Transfer
	if err := add(&tr); err != nil {
		return err
	}
	return tr.Run()
}
