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
	var tr tensor.Transfer
	if err := v.AddExecute(&tr, dst, p); err != nil {
		return err
	}
	return tr.Run()
}

// Write implements plan.Verbs.
func (v *verbs) Write(p *plan.Pass, src *Tensor) error {
	var tr tensor.Transfer
	if err := v.AddWrite(&tr, src, p); err != nil {
		return err
	}
	return tr.Run()
}
