package tdict

import (
	"fmt"
	"iter"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Tree is a dictionary without its tensors: the keys and their order, nested dictionaries,
// including empty ones, batch shapes and names, and the leaves of other kinds. [TensorDict.Tree]
// makes a Tree, for code that works on a list of tensors, and [Tree.Build] makes a dictionary with
// other tensors. The zero Tree is the Tree of the zero TensorDict.
//
// A Tree never changes, and does not keep the tensors in memory. Safe for concurrent use.
type Tree struct {
	skeleton *TensorDict // the dictionary with a slot for each tensor; nil in the zero Tree
	slots    int
}

// A slot replaces a tensor in the skeleton of a Tree. It is not a value of a dictionary.
type slot struct{}

// Shape implements Value.
func (slot) Shape() shapeops.Shape { return nil }

// Tree returns the tensors among the leaves, in the order of [TensorDict.Tensors], and td without
// them:
//
//	params, tree := td.Tree()
//	params, err := step(params) // as many tensors as it was given
//	td, err = tree.Build(params)
//
// The Tree shares leaves of other kinds with td. (Python: tree_flatten of torch.utils._pytree.)
func (td *TensorDict) Tree() ([]*tensor.Tensor, *Tree) {
	leaves := []*tensor.Tensor{}
	skeleton := td.withoutTensors(&leaves)
	return leaves, &Tree{skeleton, len(leaves)}
}

// withoutTensors returns td with slots for its tensors, which it appends to leaves.
func (td *TensorDict) withoutTensors(leaves *[]*tensor.Tensor) *TensorDict {
	out := td.emptied()
	out.entries, _, _ = td.entries.mapped(func(_ column, v Value) (Value, error) {
		if d, ok := v.(*TensorDict); ok {
			return d.withoutTensors(leaves), nil
		}
		if x, ok := v.(*tensor.Tensor); ok {
			*leaves = append(*leaves, x)
			return slot{}, nil
		}
		return v, nil
	})
	return out
}

// Keys returns an iterator over the keys of the tensors, in the order in which Build takes them.
func (t *Tree) Keys() iter.Seq[nestedkey.Key] {
	return func(yield func(nestedkey.Key) bool) {
		if t.skeleton == nil {
			return
		}
		t.skeleton.walk(nil, func(key nestedkey.Key, v Value) bool {
			_, ok := v.(slot)
			return !ok || yield(key)
		})
	}
}

// Build returns the dictionary that the Tree was made of, with other tensors, in the order of
// [Tree.Keys]. They may have any dtypes and features. Leaves are shared; dictionaries are new and
// not locked. With the tensors that [TensorDict.Tree] returned, the result is a [TensorDict.Copy].
//
// Build returns shapeops.ErrShape if there are more or fewer tensors than keys or, with the key, if
// a tensor does not begin with the batch shape of the dictionary around it, and [ErrKind], with the
// key, if a tensor is nil.
func (t *Tree) Build(leaves []*tensor.Tensor) (*TensorDict, error) {
	if t.skeleton == nil {
		t = &Tree{skeleton: New()}
	}
	if len(leaves) != t.slots {
		err := fmt.Errorf("%w: got %d leaves, want %d", shapeops.ErrShape, len(leaves), t.slots)
		i := 0
		for key := range t.Keys() {
			if i++; i > len(leaves) {
				return nil, failedKey("build", key, err) // the first without a leaf
			}
		}
		return nil, failed("build", err)
	}
	return t.skeleton.filled(&leaves)
}

// filled returns td with the first of leaves, which it removes, in its slots.
func (td *TensorDict) filled(leaves *[]*tensor.Tensor) (*TensorDict, error) {
	entries, name, err := td.entries.mapped(func(_ column, v Value) (Value, error) {
		if d, ok := v.(*TensorDict); ok {
			return asValue(d.filled(leaves))
		}
		if _, ok := v.(slot); !ok {
			return v, nil
		}
		x := (*leaves)[0]
		*leaves = (*leaves)[1:]
		if err := checkValue(x); err != nil {
			return nil, err
		}
		return x, x.Shape().CheckPrefix(td.batch)
	})
	if err != nil {
		return nil, within("build", name, err)
	}
	return &TensorDict{batch: td.batch, entries: entries, header: td.header}, nil
}
