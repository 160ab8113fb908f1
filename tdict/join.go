package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Join lays xs side by side as j says, leaf by leaf, into a new dictionary, or into the given one unless it is nil. It is
// what shapeops.Stack and shapeops.Cat call; td is xs[0]. The keys come in td's order. It returns [ErrMissing] if the keys
// differ, [ErrKind] if one has a leaf where another has a dictionary, and the errors of tensor.Tensor.Join; on an error
// nothing has changed.
func (td *TensorDict) Join(j shapeops.JoinPlan, xs []*TensorDict, into *TensorDict) (*TensorDict, error) {
	op := "cat"
	if j.New {
		op = "stack"
	}
	if into == nil {
		out, err := joinNew(j, xs)
		return out, failed(op, err)
	}
	var tr tensor.Transfer
	if err := joinInto(&tr, j, xs, into); err != nil {
		return nil, failed(op, err)
	}
	return into, failed(op, tr.Run())
}

// joinNew lays xs side by side in a new dictionary.
func joinNew(j shapeops.JoinPlan, xs []*TensorDict) (*TensorDict, error) {
	batch, err := joinBatch(j, xs)
	if err != nil {
		return nil, err
	}
	out := xs[0].like(batch)
	err = eachColumn(xs, func(i int, c column) (err error) {
		if c.tensors != nil {
			out.values[i], err = c.tensors[0].Join(j, c.tensors, nil)
		} else {
			out.values[i], err = joinNew(j, c.dicts)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// joinInto adds to tr what it takes to lay xs side by side in into.
func joinInto(tr *tensor.Transfer, j shapeops.JoinPlan, xs []*TensorDict, into *TensorDict) error {
	batch, err := joinBatch(j, xs)
	if err != nil {
		return err
	}
	if err := into.batch.CheckEqual(batch); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if len(into.values) != len(xs[0].values) {
		return fmt.Errorf("destination: %w: got %d entries, want %d", ErrMissing, len(into.values), len(xs[0].values))
	}
	return eachColumn(xs, func(i int, c column) error {
		at := into.table.find(xs[0].table.names[i])
		if at < 0 {
			return fmt.Errorf("destination: %w", into.missing())
		}
		if dst, ok := asTensor(into.values[at]); ok && c.tensors != nil {
			return tr.Join(dst, j, c.tensors)
		}
		if dst, ok := asDict(into.values[at]); ok && c.dicts != nil {
			return joinInto(tr, j, c.dicts, dst)
		}
		return kinds(into.values[at], xs[0].values[i])
	})
}

// joinBatch returns the batch shape of xs, at any depth, laid side by side: j says what becomes of the outermost dims, and
// the others must be equal.
func joinBatch(j shapeops.JoinPlan, xs []*TensorDict) (shapeops.Shape, error) {
	behind := xs[0].batch[j.Rank():]
	for i, x := range xs {
		if got := x.batch[j.Rank():]; !got.Equal(behind) {
			return nil, fmt.Errorf("value %d: %w: got dictionary %v, want %v", i, shapeops.ErrShape, x.batch, xs[0].batch)
		}
	}
	return append(j.Shape.Clone(), behind...), nil
}

// A column is the values of several dictionaries under one key: all tensors or all dictionaries.
type column struct {
	tensors []*tensor.Tensor
	dicts   []*TensorDict
}

// eachColumn calls fn with the values under each key of xs, in the order of xs[0]. The column is valid during the call. It
// returns ErrMissing if the keys differ, and fn's first error with its key.
func eachColumn(xs []*TensorDict, fn func(i int, c column) error) error {
	for i, x := range xs {
		if len(x.values) > len(xs[0].values) {
			return fmt.Errorf("value %d: %w", i, moreKeys(x, xs[0]))
		}
	}
	var tensors []*tensor.Tensor
	for i, name := range xs[0].table.list() {
		c, err := columnOf(xs, i, name, tensors)
		if err == nil {
			err = fn(i, c)
		}
		if err != nil {
			return within("join", name, err)
		}
		tensors = c.tensors
	}
	return nil
}

// moreKeys says which key of x other lacks.
func moreKeys(x, other *TensorDict) error {
	for _, name := range x.table.list() {
		if other.table.find(name) < 0 {
			return fmt.Errorf("%w: %q is not in value 0", ErrMissing, string(name))
		}
	}
	return ErrMissing
}

// columnOf gathers the values under one name, which is at position i of xs[0], into memory to be used again if there is.
func columnOf(xs []*TensorDict, i int, name nestedkey.Key, tensors []*tensor.Tensor) (c column, err error) {
	_, isDict := asDict(xs[0].values[i])
	if !isDict {
		if c.tensors = tensors[:0]; c.tensors == nil {
			c.tensors = make([]*tensor.Tensor, 0, len(xs))
		}
	}
	for n, x := range xs {
		at := i
		if i >= len(x.values) || x.table.names[i] != name { // mostly the order is the same
			if at = x.table.find(name); at < 0 {
				return column{}, fmt.Errorf("value %d: %w", n, x.missing())
			}
		}
		if t, ok := asTensor(x.values[at]); ok && !isDict {
			c.tensors = append(c.tensors, t)
		} else if d, ok := asDict(x.values[at]); ok && isDict {
			c.dicts = append(c.dicts, d)
		} else {
			return column{}, fmt.Errorf("value %d: %w", n, kinds(x.values[at], xs[0].values[i]))
		}
	}
	return c, nil
}
