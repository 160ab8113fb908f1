package tdict

import (
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// NewZeros returns a dictionary with td's keys, and the kind, dtype and features of each of its
// values, but a batch shape of its own and nothing in it yet: tensors of zeros, ragged ones with
// rows that are empty, [Data] of nil. What belongs to all rows alike stays: Data that is the same
// for all rows, see [Data.Uniform], and unbatched tensors, which are copied. Nested dictionaries
// keep the dims of their batch shapes after td's. Dims keep their names if there are as many. It is
// how a destination is made, as for [TensorDict.IndexInto]. It returns shapeops.ErrShape if a size
// is negative or elements cannot be counted. (Python: new_zeros.)
func (td *TensorDict) NewZeros(batch ...int) (*TensorDict, error) {
	out, err := td.zerosLike(new(plan.Pass), batch, len(td.batch))
	if err != nil {
		return nil, failed("new zeros", err)
	}
	return out, nil
}

// zerosLike is NewZeros of a dictionary within one whose batch shape has so many dims, with td's
// names.
func (td *TensorDict) zerosLike(p *plan.Pass, batch shapeops.Shape, dims int) (*TensorDict, error) {
	to := append(batch.Clone(), td.batch[dims:]...)
	if err := to.Check(); err != nil {
		return nil, err
	}
	entries, name, err := td.entries.mapped(func(_ column, v Value) (Value, error) {
		if d, ok := asDict(v); ok {
			return asValue(d.zerosLike(p, batch, dims))
		}
		return zeroLike(v, p, append(batch.Clone(), v.Shape()[dims:]...))
	})
	if err != nil {
		return nil, within("zeros like", name, err)
	}
	out := &TensorDict{batch: to, entries: entries, header: td.header}
	if len(batch) != dims {
		out.names = nil
	}
	return out, nil
}

// ToMeta returns a dictionary like td whose tensors are on device tensor.Meta: keys, dtypes and
// shapes without elements, to plan with; of ragged tensors, lengths stay. Leaves of other kinds are
// shared.
func (td *TensorDict) ToMeta() (*TensorDict, error) {
	return td.each("to meta", (*tensor.Tensor).ToMeta)
}

// Materialize returns td with zeros in the place of each tensor on device tensor.Meta. Other leaves
// are shared.
func (td *TensorDict) Materialize() (*TensorDict, error) {
	return td.each("materialize", (*tensor.Tensor).Materialize)
}

// Reinterpret returns td with the bytes of each tensor as elements of another dtype; if its width
// differs, the last dim grows or shrinks, which the batch shape does not. Leaves share td's memory,
// and are shared if they are no tensors. Its errors are those of tensor.Tensor.Reinterpret, and
// shapeops.ErrShape if a leaf does not begin with the batch shape any more. (Python: view(dtype).)
func (td *TensorDict) Reinterpret(dtype tensor.DType) (*TensorDict, error) {
	return td.each("reinterpret", func(t *tensor.Tensor) (*tensor.Tensor, error) { return t.Reinterpret(dtype) })
}

// Cast returns td with each tensor cast to a dtype, as tensor.Tensor.Cast does; leaves of other
// kinds are shared. (Python: td.float(), td.to(dtype).)
func (td *TensorDict) Cast(dtype tensor.DType) (*TensorDict, error) {
	return td.each("cast", func(t *tensor.Tensor) (*tensor.Tensor, error) { return t.Cast(dtype) })
}

// each returns td with what fn makes of each tensor, for an operation.
func (td *TensorDict) each(op string, fn func(*tensor.Tensor) (*tensor.Tensor, error)) (*TensorDict, error) {
	out, err := td.Apply(func(_ nestedkey.Key, t *tensor.Tensor) (*tensor.Tensor, error) { return fn(t) })
	if err != nil {
		return nil, failed(op, err)
	}
	return out, nil
}

// zeroLike returns a value like v that shares nothing with it. Data keeps a value of all rows.
func zeroLike(v Value, p *plan.Pass, shape shapeops.Shape) (Value, error) {
	k := opsOf(v)
	same, err := k.alike(v, shape)
	switch {
	case err != nil:
		return nil, err
	case same == nil:
		return k.zerosLike(v, p, shape)
	}
	return opsOf(same).clone(same, p)
}
