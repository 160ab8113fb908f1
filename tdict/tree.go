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
		if d, ok := asDict(v); ok {
			return d.withoutTensors(leaves), nil
		}
		if x, ok := asTensor(v); ok {
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
		if t == nil || t.skeleton == nil {
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
	t = t.whole()
	return t.build(leaves, t.skeleton.batch)
}

// BuildBatch is [Tree.Build] of a dictionary with the given batch shape, so that the Tree of a
// prototype makes batches of any size. Nested dictionaries keep the batch dims that they have after
// the outermost batch shape. Dims keep their names if the new batch shape has as many dims.
// Unbatched tensors, and [Data] with the same value for all rows, are repeated to the new batch
// shape.
//
// BuildBatch returns the errors of Build, and shapeops.ErrShape if the batch shape is invalid. If
// the batch shape differs from the Tree's, it returns [ErrKind], with the key, for a leaf that
// cannot be repeated: a ragged tensor, a [Stacked], or Data whose rows differ.
func (t *Tree) BuildBatch(leaves []*tensor.Tensor, batch ...int) (*TensorDict, error) {
	if err := shapeops.Shape(batch).Check(); err != nil {
		return nil, failed("build", err)
	}
	return t.whole().build(leaves, batch)
}

// whole returns t, or an empty Tree with a skeleton if t is nil or zero.
func (t *Tree) whole() *Tree {
	if t == nil || t.skeleton == nil {
		return &Tree{skeleton: New()}
	}
	return t
}

func (t *Tree) build(leaves []*tensor.Tensor, batch shapeops.Shape) (*TensorDict, error) {
	if len(leaves) > t.slots {
		return nil, failed("build", wrongCount(len(leaves), t.slots))
	}
	b := builder{leaves: leaves, slots: t.slots, was: t.skeleton.batch, batch: batch}
	out, err := b.dict(t.skeleton)
	if err != nil {
		return nil, failed("build", err)
	}
	return out, nil
}

// A builder puts tensors into the slots of a skeleton, in order.
type builder struct {
	leaves     []*tensor.Tensor
	next       int            // the index of the next leaf
	slots      int            // the number of slots
	was, batch shapeops.Shape // the batch shapes of the skeleton and of the result
}

func (b *builder) dict(d *TensorDict) (*TensorDict, error) {
	out := &TensorDict{batch: b.fit(d.batch), header: d.header}
	if !b.batch.Equal(b.was) {
		out.stack = nil
	}
	if len(b.batch) != len(b.was) {
		out.names = nil
	}
	var name nestedkey.Key
	var err error
	out.entries, name, err = d.entries.mapped(func(_ column, v Value) (Value, error) { return b.value(v, out.batch) })
	if err != nil {
		return nil, within("build", name, err)
	}
	return out, nil
}

// fit replaces the batch shape of the skeleton, with which s begins, by the batch shape of the
// result.
func (b *builder) fit(s shapeops.Shape) shapeops.Shape {
	return append(b.batch.Clone(), s[len(b.was):]...)
}

// value returns the replacement of v, in a dictionary with the given batch shape.
func (b *builder) value(v Value, batch shapeops.Shape) (Value, error) {
	if _, ok := v.(slot); ok {
		return b.leaf(batch)
	}
	if d, ok := asDict(v); ok {
		return asValue(b.dict(d))
	}
	if b.batch.Equal(b.was) {
		return v, nil
	}
	made, err := opsOf(v).alike(v, b.fit(v.Shape()))
	if made != nil || err != nil {
		return made, err
	}
	return nil, fmt.Errorf("%w: got %s, which cannot be repeated to another batch shape", ErrKind, describe(v))
}

// leaf returns the next leaf. It returns an error if the leaf does not begin with the batch shape.
func (b *builder) leaf(batch shapeops.Shape) (Value, error) {
	if b.next == len(b.leaves) {
		return nil, wrongCount(b.next, b.slots)
	}
	x := b.leaves[b.next]
	b.next++
	if err := checkValue(x); err != nil {
		return nil, err
	}
	return x, x.Shape().CheckPrefix(batch)
}

func wrongCount(got, want int) error {
	return fmt.Errorf("%w: got %d leaves, want %d", shapeops.ErrShape, got, want)
}
