package ragged

import "github.com/go-tensordict/tensordict/tensor"

// Cast returns t's values as another dtype, as tensor.Tensor.Cast does, with the same rows.
func (t *Tensor) Cast(dtype tensor.DType) (*Tensor, error) {
	return t.MapValues(func(values *tensor.Tensor) (*tensor.Tensor, error) { return values.Cast(dtype) })
}

// MapValues returns the tensor that fn makes of the values, with the same rows:
//
//	[V F...] -> [V G...], which may share memory
//
// It returns shapeops.ErrShape for another number of rows, shapeops.ErrKind if fn is nil, and fn's
// error.
func (t *Tensor) MapValues(fn func(values *tensor.Tensor) (*tensor.Tensor, error)) (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	if fn == nil {
		return nil, errNoFunc
	}
	s, err := t.straight(nil)
	if err != nil {
		return nil, err
	}
	values, err := fn(s.values)
	if err != nil {
		return nil, err
	}
	return New(values, s.layout)
}
