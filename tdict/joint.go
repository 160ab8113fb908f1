package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// ToJoint returns the leaves of a dictionary with batch shape [N] as a collection of N rows. Ragged
// tensors become fields unchanged, dense tensors [N F...] become fields of depth 0, and unbatched
// tensors become scalars. The fields share td's memory.
//
// trees maps the name of a leaf to the name of its tree; the leaves of one tree must have the same
// lengths. Leaves that are not in trees form one more tree, named "". If trees is nil, these are
// all leaves.
//
// ToJoint returns
//
//   - shapeops.ErrDim unless the batch shape has exactly one dim,
//   - [ErrKind] for [Data] and for nested dictionaries; [TensorDict.Exclude] and
//     [TensorDict.FlattenKeys] remove them,
//   - ragged.ErrLengths, with names, level and row, if leaves of one tree differ in lengths,
//   - [ErrMissing] for a name in trees that td lacks,
//   - ragged.ErrName for a name with "/", and for "bounds" and "mask".
func ToJoint(td *TensorDict, trees map[string]string) (*ragged.Joint, error) {
	if td == nil {
		return nil, failed("to joint", errNil)
	}
	if len(td.batch) != 1 {
		return nil, failed("to joint", fmt.Errorf("%w: got the batch shape %v, want one dim", shapeops.ErrDim, td.batch))
	}
	for name := range trees {
		if !td.entries.has(nestedkey.Of(name)) {
			return nil, failed("to joint", td.absent(name))
		}
	}
	rows, err := ragged.NewLayout(td.batch)
	if err != nil {
		return nil, failed("to joint", err)
	}
	var fields []ragged.Field
	f := &fieldMaker{rows}
	for name, v := range td.All() {
		t, err := f.field(v)
		if err != nil {
			return nil, within("to joint", name, err)
		}
		fields = append(fields, ragged.Field{Name: name.Name(), Tensor: t, Tree: trees[name.Name()]})
	}
	j, err := ragged.NewJoint(fields...)
	return j, failed("to joint", err)
}

// absent returns the error for a name that td lacks.
func (td *TensorDict) absent(name string) error {
	return &KeyError{"to joint", nestedkey.Of(name), td.missing(nestedkey.Of(name))}
}

// A fieldMaker converts values of a dictionary to fields of a collection with its rows.
type fieldMaker struct{ rows *ragged.Layout }

// field returns v as a tensor with the rows of the collection, or a scalar.
func (f *fieldMaker) field(v Value) (*ragged.Tensor, error) {
	switch v := v.(type) {
	case *ragged.Tensor:
		return v, nil
	case *tensor.Tensor:
		return ragged.New(v, f.rows)
	case *Unbatched:
		one, err := v.tensor.Unsqueeze(0)
		if err != nil {
			return nil, err
		}
		scalar, err := ragged.NewLayout(nil)
		if err != nil {
			return nil, err
		}
		return ragged.New(one, scalar)
	}
	return nil, fmt.Errorf("%w: got %s, want a dense, a ragged or an unbatched tensor", ErrKind, describe(v))
}

// FromJoint returns a collection of N rows as a dictionary with batch shape [N]: fields of depth 0
// become dense tensors, scalars become unbatched tensors, and other fields become ragged tensors. A
// collection without a dim of rows, for which ragged.Joint.Len returns false, becomes a dictionary
// with batch shape [] whose entries are dense scalars. The leaves share the memory of j. Leaves
// that share a layout still do, but the names of trees are lost.
//
// FromJoint returns [ErrKind] if j is nil, and shapeops.ErrDim if j is one row of a collection with
// several trees, whose numbers of rows may differ: Select the fields of one tree first.
func FromJoint(j *ragged.Joint) (*TensorDict, error) {
	if j == nil {
		return nil, failed("from joint", fmt.Errorf("%w: got a nil collection", ErrKind))
	}
	n, ok := j.Len()
	out := New(n)
	if !ok {
		out = New()
	}
	for f := range j.Fields() {
		v, err := fieldValue(f.Tensor, ok)
		if err == nil {
			err = out.Set(nestedkey.Of(f.Name), v)
		}
		if err != nil {
			return nil, failed("from joint", err)
		}
	}
	return out, nil
}

// fieldValue returns a field as an entry of a dictionary. rows reports whether the collection has
// rows.
func fieldValue(t *ragged.Tensor, rows bool) (Value, error) {
	if !rows && (t.Depth() > 0 || len(t.Shape()) > 0) {
		return nil, fmt.Errorf("%w: got a row of several trees: Select fields of one", shapeops.ErrDim)
	}
	if t.Depth() > 0 {
		return t, nil
	}
	values, err := t.Values()
	if err != nil || len(t.Shape()) == 1 {
		return asValue(values, err)
	}
	one, err := values.Reshape(t.Features()...)
	if err != nil || !rows {
		return asValue(one, err)
	}
	return asValue(NewUnbatched(one))
}
