package ragged

import "github.com/go-tensordict/tensordict/tensor"

// Cast returns t with another dtype; values are converted as by tensor.Tensor.Cast.
func (t *Tensor) Cast(dtype tensor.DType) (*Tensor, error) {
	return t.MapValues(func(values *tensor.Tensor) (*tensor.Tensor, error) { return values.Cast(dtype) })
}

// MapValues returns t with fn(values) in place of its values; the rows stay the same:
//
//	[V F...] -> [V G...], which may share memory
//
// It returns shapeops.ErrShape if fn changes the number of values, shapeops.ErrKind if fn is nil,
// and the error of fn.
func (t *Tensor) MapValues(fn func(values *tensor.Tensor) (*tensor.Tensor, error)) (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	if fn == nil {
		return nil, errNoFunc
	}
	s, err := t.compact(nil)
	if err != nil {
		return nil, err
	}
	values, err := fn(s.values)
	if err != nil {
		return nil, err
	}
	return New(values, s.layout)
}
