package tdict

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// NewZeros returns a dictionary like td with the given batch shape: the same keys, and for each
// value the same kind, dtype and features. Tensors are filled with zeros, rows of ragged tensors
// are empty, and [Data] has the value nil in every row. It makes destinations, for instance for
// [TensorDict.IndexInto]. (Python: new_zeros.)
//
//   - Data with the same value for all rows, see [Data.Uniform], keeps that value.
//   - Unbatched tensors are copied with their elements.
//   - Nested dictionaries keep the batch dims that they have after td's.
//   - Dims keep their names if the new batch shape has as many dims as td's.
//
// NewZeros returns shapeops.ErrShape if a size is negative or the number of elements overflows.
func (td *TensorDict) NewZeros(batch ...int) (*TensorDict, error) {
	out, err := td.zerosLike(new(plan.Pass), batch, len(td.batch))
	if err != nil {
		return nil, failed("new zeros", err)
	}
	return out, nil
}

// zerosLike is NewZeros of td, or of a dictionary in it, with td's names. dims is the number of
// batch dims of the outermost dictionary.
func (td *TensorDict) zerosLike(p *plan.Pass, batch shapeops.Shape, dims int) (*TensorDict, error) {
	to := append(batch.Clone(), td.batch[dims:]...)
	if err := to.Check(); err != nil {
		return nil, err
	}
	entries, name, err := td.entries.mapped(func(_ column, v Value) (Value, error) {
		if d, ok := v.(*TensorDict); ok {
			return asValue(d.zerosLike(p, batch, dims))
		}
		k, shape := opsOf(v), append(batch.Clone(), v.Shape()[dims:]...)
		same, err := k.alike(v, shape)
		switch {
		case err != nil:
			return nil, err
		case same == nil:
			return k.zerosLike(v, p, shape)
		}
		return opsOf(same).clone(same, p)
	})
	if err != nil {
		return nil, within("zeros like", name, err)
	}
	out := &TensorDict{batch: to, entries: entries, header: td.header}
	if !to.Equal(td.batch) {
		out.stack = nil
	}
	if len(batch) != dims {
		out.names = nil
	}
	return out, nil
}

// ToMeta returns a dictionary like td whose tensors are on device tensor.Meta: they have dtypes and
// shapes but no elements. Ragged tensors keep their lengths. Leaves of other kinds are shared.
func (td *TensorDict) ToMeta() (*TensorDict, error) {
	return td.each("to meta", (*tensor.Tensor).ToMeta)
}

// Materialize returns td with a tensor of zeros for each tensor on device tensor.Meta. Other leaves
// are shared.
func (td *TensorDict) Materialize() (*TensorDict, error) {
	return td.each("materialize", (*tensor.Tensor).Materialize)
}

// Reinterpret returns td with the bytes of each tensor as elements of another dtype. If the width
// of elements differs, the last dim of the tensor grows or shrinks; it must not be a batch dim.
// Leaves share td's memory. Reinterpret returns the errors of tensor.Tensor.Reinterpret, and
// shapeops.ErrShape if a leaf no longer begins with the batch shape. (Python: view(dtype).)
func (td *TensorDict) Reinterpret(dtype tensor.DType) (*TensorDict, error) {
	var refused error
	out, err := td.each("reinterpret", func(t *tensor.Tensor) (made *tensor.Tensor, err error) {
		made, refused = t.Reinterpret(dtype)
		return made, refused
	})
	if e, ok := err.(*KeyError); ok && refused == nil && errors.Is(err, shapeops.ErrShape) {
		e.Err = fmt.Errorf("%w: the last dim changes size, so it must not be a batch dim", e.Err)
	}
	return out, err
}

// Cast returns td with each tensor cast to a dtype, as tensor.Tensor.Cast does. Leaves of other
// kinds are shared. (Python: td.float(), td.to(dtype).)
func (td *TensorDict) Cast(dtype tensor.DType) (*TensorDict, error) {
	return td.each("cast", func(t *tensor.Tensor) (*tensor.Tensor, error) { return t.Cast(dtype) })
}

// each returns td with fn applied to each tensor, for the operation op.
func (td *TensorDict) each(op string, fn func(*tensor.Tensor) (*tensor.Tensor, error)) (*TensorDict, error) {
	out, err := td.Apply(func(_ nestedkey.Key, t *tensor.Tensor) (*tensor.Tensor, error) { return fn(t) })
	if err != nil {
		return nil, failed(op, err)
	}
	return out, nil
}
