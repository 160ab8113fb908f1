package tdict

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Zeros returns a dictionary with a batch shape and the entries of s, optional ones too. Tensors
// are filled with zeros, rows of ragged tensors and texts are empty, and [Data] has the value nil
// in every row. No two ragged tensors share a layout. Zeros returns shapeops.ErrShape if the batch
// shape is invalid, and [ErrSchema], with the key, for an entry that is stacked, may have any
// dtype, or has a size [Any].
func (s Schema) Zeros(batch ...int) (*TensorDict, error) { return s.build(false, batch) }

// Meta is [Schema.Zeros] with tensors on device tensor.Meta, which take no memory. The result is a
// prototype for memmap.Create or memmap.NewWriter. For Create, batch is the batch shape of the
// whole dataset; for NewWriter, it is the batch shape of one row. Offsets of ragged tensors take
// memory. An unbatched tensor is a single zero, expanded.
func (s Schema) Meta(batch ...int) (*TensorDict, error) { return s.build(true, batch) }

// build returns a dictionary of zeros, or of tensors without elements if meta is true.
func (s Schema) build(meta bool, batch shapeops.Shape) (*TensorDict, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := batch.Check(); err != nil {
		return nil, failed("schema", err)
	}
	td := New(batch...)
	for i := range s {
		v, err := s[i].build(meta, batch)
		if err != nil {
			return nil, failedKey("schema", s[i].Key, err)
		}
		if err := td.Set(s[i].Key, v); err != nil {
			return nil, failed("schema", err)
		}
	}
	return td, nil
}

// build returns an entry for a dictionary with the given batch shape.
func (s *Spec) build(meta bool, batch shapeops.Shape) (Value, error) {
	switch {
	case s.Kind == KindStacked:
		return nil, fmt.Errorf("%w: got a %v entry, which has no zeros: stack dictionaries with LazyStack", ErrSchema, s.Kind)
	case s.Kind.typed() && s.DType == 0:
		return nil, fmt.Errorf("%w: got any dtype, want a fixed dtype", ErrSchema)
	case slices.Contains(s.sizes(), Any):
		return nil, fmt.Errorf("%w: got %s, want fixed sizes", ErrSchema, s.describe(nil))
	}
	all := append(append(batch.Clone(), s.Batch...), s.Shape...)
	outer := all[: len(batch)+len(s.Batch) : len(batch)+len(s.Batch)]
	switch s.Kind {
	case KindRagged:
		return emptyRows(meta, s.DType, outer, s.Depth, s.Shape)
	case KindText:
		return emptyRows(meta, tensor.Uint8, all, s.Depth+1, nil)
	case KindDict:
		return New(all...), all.Check()
	case KindData:
		return asValue(NewData(nil, all...))
	case KindUnbatched:
		return s.unbatched(meta, outer)
	}
	return zeroed(meta, s.DType, all)
}

// unbatched returns an unbatched tensor of zeros. For a prototype it is a single zero, expanded.
func (s *Spec) unbatched(meta bool, outer shapeops.Shape) (Value, error) {
	t, err := tensor.New(s.DType)
	if err == nil {
		t, err = t.Expand(s.Shape...)
	}
	if err == nil && !meta {
		t, err = t.Clone()
	}
	if err != nil {
		return nil, err
	}
	u, err := NewUnbatched(t)
	if err != nil {
		return nil, err
	}
	return asValue(fitUnbatched(u, outer))
}

// zeroed returns a tensor of zeros, or one without elements if meta is true.
func zeroed(meta bool, d tensor.DType, shape shapeops.Shape) (Value, error) {
	if meta {
		return asValue(tensor.NewMeta(d, shape...))
	}
	return asValue(tensor.New(d, shape...))
}

// emptyRows returns a ragged tensor with empty rows.
func emptyRows(meta bool, d tensor.DType, batch shapeops.Shape, depth int, features shapeops.Shape) (Value, error) {
	l, err := ragged.NewLayout(batch)
	if err != nil {
		return nil, err
	}
	n := batch.Size()
	for range depth {
		if l, err = l.Nest(make([]int64, n+1)); err != nil {
			return nil, err
		}
		n = 0
	}
	values, err := zeroed(meta, d, append(shapeops.Shape{n}, features...))
	if err != nil {
		return nil, err
	}
	t, _ := values.(*tensor.Tensor)
	return asValue(ragged.New(t, l))
}
