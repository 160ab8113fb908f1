package tensor

import (
	"github.com/go-tensordict/tensordict/internal/plan"
)

// Pad returns a copy of t with positions added before and after each dim, the first dim first: two
// sizes for each, or none for dims at the end. A negative size takes positions away.
//
//	[A B], 1, 0, 0, 2 -> [A+1 B+2]
//
// What is added is value, which [ScalarOf] makes an element of t's dtype; nil is zero. Its errors
// are shapeops.ErrShape, and [ErrDType] if the dtype does not hold value.
func (t *Tensor) Pad(value any, sizes ...int) (*Tensor, error) {
	p, err := plan.Pad(t.view.Shape, sizes...)
	if err != nil {
		return nil, err
	}
	return t.Plan().Execute(&plan.Pass{Plan: p, Fill: value})
}

// PadInto is [Tensor.Pad] into a tensor that the caller owns, which must have the dtype and the
// shape of the result. Its errors are also those of [Transfer]; on an error nothing has changed.
func (t *Tensor) PadInto(dst *Tensor, value any, sizes ...int) error {
	p, err := plan.Pad(t.view.Shape, sizes...)
	if err != nil {
		return err
	}
	return t.passedInto(dst, &plan.Pass{Plan: p, Fill: value})
}
