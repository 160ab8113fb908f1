package tdc

import (
	"cmp"
	"maps"
	"slices"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// poolParts are the leaves of a ragged tensor by the names of the parts.
type poolParts map[string]*Leaf

// isPool reports whether the node is a ragged tensor.
func (d *dict) isPool() bool {
	return slices.ContainsFunc(d.leaves, func(l *Leaf) bool { return pool.IsPart(l.name) }) || slices.ContainsFunc(d.members(), pool.IsPart)
}

// flat returns the leaves of d that are parts of ragged tensors, by the names of these: a flat
// dictionary has the leaf "text.@pool".
func (d *dict) flat() map[string]poolParts {
	var flat map[string]poolParts
	for _, l := range d.leaves {
		if name, part, ok := pool.Split(l.name); ok {
			if flat == nil {
				flat = map[string]poolParts{}
			}
			if flat[name] == nil {
				flat[name] = poolParts{}
			}
			flat[name][part] = l
		}
	}
	return flat
}

// pooled returns the ragged tensor of a node whose leaves are its parts.
func (b *builder) pooled(d *dict) (*ragged.Tensor, error) {
	parts := poolParts{}
	for _, l := range d.leaves {
		parts[l.name] = l
	}
	if others := d.members(); len(others) > 0 {
		return nil, fileformat.Corrupt("a ragged tensor with a further entry %s, which is not a tensor", quote(others[0]))
	}
	return b.pool(d.key, parts, d.batch)
}

// pool returns the ragged tensor of parts, which are in a dictionary of the given batch shape.
func (b *builder) pool(key nestedkey.Key, parts poolParts, batch shapeops.Shape) (*ragged.Tensor, error) {
	list := make([]pool.Part, 0, len(parts))
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		l := parts[name]
		l.Key, l.Whole = key, name == pool.Values
		list = append(list, pool.Part{Name: name, DType: l.DType, Shape: l.Shape})
	}
	checked, err := pool.Check(list, batch)
	if err != nil {
		return nil, err
	}
	used := *parts[pool.Values]
	layout, shape, err := checked.Layout(&b.contents.layouts, func(name string, n int, each func([]int64) error) error {
		if take := b.contents.limits.Take; take != nil && name != pool.Row {
			if err := take(8 * int64(n)); err != nil {
				return err
			}
		}
		return b.firstInts(parts[name], n, each)
	})
	if err != nil {
		return nil, err
	}
	used.Shape, used.Size = shape, shape.Size()*used.DType.Size()
	values, err := b.tensor(&used)
	if err != nil {
		return nil, err
	}
	parts[pool.Values].Rows, parts[pool.Values].Size = layout, used.Size
	return b.rows(values, layout)
}

// firstInts calls each with the first n numbers of a leaf.
func (b *builder) firstInts(l *Leaf, n int, each func([]int64) error) error {
	t, err := b.tensor(l)
	if err != nil {
		return err
	}
	var failed error
	err = tensor.Read(t, func(s []int64) { failed = each(s[:n]) })
	return cmp.Or(failed, err)
}
