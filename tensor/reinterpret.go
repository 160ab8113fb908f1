package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/shape"
)

// Reinterpret returns t's bytes as elements of another dtype. A narrower dtype makes the last dim
// longer, a wider one makes it shorter:
//
//	float32 [A N] as uint8 -> [A 4*N]
//	uint8 [A 4*N] as float32 -> [A N]
//
// The result shares t's memory. Reinterpret returns [ErrDType] if dtype is invalid, and
// shape.ErrShape if the last dim does not hold whole elements, or if t is a scalar of another
// width. It returns [ErrLayout] if the elements of the last dim are not contiguous, or if a row
// begins within an element: call [Tensor.Clone] first. (Python: view(dtype).)
func (t *Tensor) Reinterpret(dtype DType) (_ *Tensor, err error) {
	defer errtext.Name("reinterpret", &err)
	if !dtype.valid() {
		return nil, fmt.Errorf("%w: got %v", ErrDType, dtype)
	}
	from, to := t.dtype.Size(), dtype.Size()
	if from == to {
		return &Tensor{dtype: dtype, view: t.view, mem: t.mem}, nil
	}
	last := len(t.view.Shape) - 1
	if last < 0 {
		return nil, fmt.Errorf("%w: got a scalar of %v, want a dim to reinterpret as %v", shape.ErrShape, t.dtype, dtype)
	}
	if t.view.Shape[last] > 1 && t.view.Strides[last] != 1 && t.Size() > 0 {
		return nil, fmt.Errorf("%w: got stride %d in the last dim, want 1: call Clone first", ErrLayout, t.view.Strides[last])
	}
	v := shape.View{Shape: t.view.Shape.Clone(), Strides: slices.Clone(t.view.Strides)}
	v.Strides[last] = 1
	if to < from {
		err = asNarrower(&v, t.view.Offset, from/to)
	} else {
		err = asWider(&v, t.view.Offset, to/from)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v %v as %v", err, t.dtype, t.view.Shape, dtype)
	}
	return &Tensor{dtype: dtype, view: v, mem: t.mem}, nil
}

// asNarrower changes v to a view of narrower elements; times of them replace one.
func asNarrower(v *shape.View, offset, times int) error {
	last := len(v.Shape) - 1
	if v.Shape[last] > math.MaxInt/times {
		return fmt.Errorf("%w: the size of the last dim overflows", shape.ErrShape)
	}
	for dim := range last {
		v.Strides[dim] *= times
	}
	v.Shape[last] *= times
	v.Offset = offset * times
	return v.Shape.Check()
}

// asWider changes v to a view of wider elements; one of them replaces times.
func asWider(v *shape.View, offset, times int) error {
	last := len(v.Shape) - 1
	if v.Shape[last]%times != 0 {
		return fmt.Errorf("%w: the last dim does not hold whole elements", shape.ErrShape)
	}
	even := offset%times == 0
	for dim := range last {
		even = even && (v.Strides[dim]%times == 0 || v.Shape[dim] < 2)
		v.Strides[dim] /= times
	}
	if !even && v.Shape.Size() > 0 {
		return fmt.Errorf("%w: a row begins within an element of the wider dtype: call Clone first", ErrLayout)
	}
	v.Shape[last] /= times
	v.Offset = offset / times
	return nil
}
