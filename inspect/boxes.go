package inspect

import (
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// flattened returns tensors of one shape as vectors that share their memory, if all are contiguous.
// It returns them unchanged otherwise.
func flattened(xs ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	for _, x := range xs {
		if !x.View().IsContiguous() {
			return xs, nil
		}
	}
	flat := make([]*tensor.Tensor, len(xs))
	for i, x := range xs {
		var err error
		if flat[i], err = x.Reshape(x.Size()); err != nil {
			return nil, err
		}
	}
	return flat, nil
}

// eachBox calls fn with views of tensors of one shape. The views cover, one after the other, the
// elements from from up to stop in row-major order.
func eachBox(xs []*tensor.Tensor, from, stop int, fn func(parts []*tensor.Tensor) error) error {
	if from >= stop {
		return nil
	}
	shape := xs[0].Shape()
	if from == 0 && stop == shape.Size() {
		return fn(xs)
	}
	inner := shape[1:].Size()
	row := func(i, lo, hi int) error {
		parts, err := indexed(xs, ix.At(i))
		if err != nil {
			return err
		}
		return eachBox(parts, lo, hi, fn)
	}
	first, last := from/inner, stop/inner // the whole rows
	if from%inner != 0 {
		if err := row(first, from%inner, min(inner, stop-first*inner)); err != nil {
			return err
		}
		first++
	}
	if first < last {
		parts, err := indexed(xs, ix.Range(first, last))
		if err == nil {
			err = fn(parts)
		}
		if err != nil {
			return err
		}
	}
	if first <= last && stop%inner != 0 {
		return row(last, 0, stop%inner)
	}
	return nil
}

// indexed returns the same part of each tensor.
func indexed(xs []*tensor.Tensor, at ...ix.Index) ([]*tensor.Tensor, error) {
	parts := make([]*tensor.Tensor, len(xs))
	for i, x := range xs {
		var err error
		if parts[i], err = x.Index(at...); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// expanded returns a mask over the leading dims of shape, as a view of the full shape.
func expanded(mask *tensor.Tensor, shape shapeops.Shape) (*tensor.Tensor, error) {
	padded := mask.Shape().Clone()
	for len(padded) < len(shape) {
		padded = append(padded, 1)
	}
	wide, err := mask.Reshape(padded...)
	if err != nil {
		return nil, err
	}
	return wide.Expand(shape...)
}
