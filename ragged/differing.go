package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Differing is tensor.Tensor.Differing of the values of all rows. A position has one number for
// each dim and each level. It returns [ErrLengths] or shapeops.ErrShape if the tensors differ in
// more than values, tensor.ErrDType if dtypes differ, and shapeops.ErrKind if x is nil.
func (v *ops) Differing(x *Tensor, tol tensor.Tolerance, n int) (first []tensor.ElementDiff, count int, err error) {
	t := (*Tensor)(v)
	if !t.made() || !x.made() {
		return nil, 0, errNil
	}
	if t.DType() != x.DType() {
		return nil, 0, fmt.Errorf("%w: got %v, want %v", tensor.ErrDType, x.DType(), t.DType())
	}
	if !t.Shape().Equal(x.Shape()) || t.Depth() != x.Depth() || !t.Features().Equal(x.Features()) {
		return nil, 0, fmt.Errorf("%w: got %s, want %s", shapeops.ErrShape, x.shapeText(), t.shapeText())
	}
	if err := t.layout.CheckEqual(x.layout); err != nil {
		return nil, 0, err
	}
	a, err := t.Values()
	if err != nil {
		return nil, 0, err
	}
	b, err := x.Values()
	if err != nil {
		return nil, 0, err
	}
	first, count, err = a.Ops().Differing(b, tol, n)
	for i, d := range first {
		first[i].Position = t.position(d.Position)
	}
	return first, count, err
}
