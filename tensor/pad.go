package tensor

import (
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
)

// Pad returns a copy of t with positions added before and after each dim. sizes has two numbers for
// each dim, the first dim first; dims at the end may be left out. A negative size removes
// positions.
//
//	[A B], 1, 0, 0, 2 -> [A+1 B+2]
//
// Added positions are set to value, which [ScalarOf] converts to t's dtype; nil means zero. Pad
// returns shape.ErrShape, and [ErrDType] if the dtype does not hold value.
func (t *Tensor) Pad(value any, sizes ...int) (*Tensor, error) {
	p, err := plan.Pad(t.view.Shape, sizes...)
	if err != nil {
		return nil, errtext.Named("pad", err)
	}
	out, err := t.Ops().Execute(&plan.Pass{Plan: p, Fill: value})
	return out, errtext.Named("pad", err)
}

// PadInto is [Tensor.Pad] into dst, which has the dtype and the shape of the result. It also
// returns the errors of [Transfer]; on an error nothing has changed.
func (t *Tensor) PadInto(dst *Tensor, value any, sizes ...int) error {
	p, err := plan.Pad(t.view.Shape, sizes...)
	if err == nil {
		err = (*ops)(t).ExecuteInto(&plan.Pass{Plan: p, Fill: value}, dst)
	}
	return errtext.Named("pad", err)
}
