package joint

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// FromDict returns the leaves of a dictionary with batch shape [N] as a collection of N rows.
// Ragged tensors become fields unchanged, dense tensors [N F...] become fields of depth 0, and
// unbatched tensors become scalars. The fields share td's memory.
//
// trees maps the name of a leaf to the name of its tree; the leaves of one tree must have the same
// lengths. Leaves that are not in trees form one more tree, named "". If trees is nil, these are
// all leaves.
//
// FromDict returns
//
//   - shapeops.ErrDim unless the batch shape has exactly one dim,
//   - tdict.ErrKind if td is nil, for tdict.Data and for nested dictionaries; tdict's Exclude and
//     FlattenKeys remove them,
//   - ragged.ErrLengths, with names, level and row, if leaves of one tree differ in lengths,
//   - tdict.ErrMissing for a name in trees that td lacks,
//   - [ErrName] for a name with "/", and for "bounds" and "mask".
func FromDict(td *tdict.TensorDict, trees map[string]string) (*Joint, error) {
	if td == nil {
		return nil, fmt.Errorf("joint: %w: got a nil dictionary", tdict.ErrKind)
	}
	if len(td.Shape()) != 1 {
		return nil, fmt.Errorf("joint: %w: got the batch shape %v, want one dim", shapeops.ErrDim, td.Shape())
	}
	for name := range trees {
		if _, err := td.Get(nestedkey.Of(name)); err != nil {
			return nil, fmt.Errorf("joint: %w", err)
		}
	}
	rows, err := ragged.NewLayout(td.Shape())
	if err != nil {
		return nil, fmt.Errorf("joint: %w", err)
	}
	var fields []Field
	for name, v := range td.All() {
		t, err := fieldOf(v, rows)
		if err != nil {
			return nil, &tdict.KeyError{Op: "joint", Key: name, Err: err}
		}
		fields = append(fields, Field{name.Name(), t, trees[name.Name()]})
	}
	j, err := New(fields...)
	if err != nil {
		return nil, fmt.Errorf("joint: %w", err)
	}
	return j, nil
}

// fieldOf returns an entry as a tensor with the rows of the collection, or as a scalar.
func fieldOf(v tdict.Value, rows *ragged.Layout) (*ragged.Tensor, error) {
	switch v := v.(type) {
	case *ragged.Tensor:
		return v, nil
	case *tensor.Tensor:
		return ragged.New(v, rows)
	case *tdict.Unbatched:
		one, err := v.Tensor().Unsqueeze(0)
		if err != nil {
			return nil, err
		}
		scalar, err := ragged.NewLayout(nil)
		if err != nil {
			return nil, err
		}
		return ragged.New(one, scalar)
	}
	return nil, fmt.Errorf("%w: got %T, want a dense, a ragged or an unbatched tensor", tdict.ErrKind, v)
}

// Dict returns j as a dictionary with the batch shape [N]: fields of depth 0 become dense tensors,
// scalars become unbatched tensors, and other fields become ragged tensors. A collection without a
// dim of rows, for which [Joint.Len] returns false, becomes a dictionary with batch shape [] whose
// entries are dense scalars. The leaves share the memory of j. Leaves that share a layout still do,
// but the names of trees are lost. tdict.SchemaOf of the result has the dtypes and depths.
//
// Dict returns shapeops.ErrDim if j is one row of a collection with several trees, whose numbers of
// rows may differ: Select the fields of one tree first.
func (j *Joint) Dict() (*tdict.TensorDict, error) {
	n, ok := j.Len()
	out := tdict.New(n)
	if !ok {
		out = tdict.New()
	}
	for f := range j.Fields() {
		v, err := entryOf(f.Tensor, ok)
		if err == nil {
			err = out.Set(nestedkey.Of(f.Name), v)
		}
		if err != nil {
			return nil, fmt.Errorf("dict: %w", err)
		}
	}
	return out, nil
}

// entryOf returns a field as an entry of a dictionary. rows reports whether the collection has
// rows.
func entryOf(t *ragged.Tensor, rows bool) (tdict.Value, error) {
	if !rows && (t.Depth() > 0 || len(t.Shape()) > 0) {
		return nil, fmt.Errorf("%w: got a row of several trees: Select fields of one", shapeops.ErrDim)
	}
	if t.Depth() > 0 {
		return t, nil
	}
	values, err := t.Values()
	if err != nil {
		return nil, err
	}
	if len(t.Shape()) == 1 {
		return values, nil
	}
	one, err := values.Reshape(t.Features()...)
	if err != nil {
		return nil, err
	}
	if !rows {
		return one, nil
	}
	return tdict.NewUnbatched(one)
}
