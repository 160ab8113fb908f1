package memmap

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// growing reads a dataset that a Writer has not finished. All its leaves are entries of one node,
// and native fields hold their keys.
func (r *reader) growing(n tree, m *meta, depth int) (tdict.Value, error) {
	if r.opt.Writable {
		return nil, r.fail(n, metaName, unfinished())
	}
	if len(m.shape) == 0 {
		return nil, r.fail(n, metaName, corrupt("an unfinished dataset has the batch shape [], want a first dim, the rows"))
	}
	r.grows = true
	td := tdict.New(m.shape...)
	inner, err := r.dictionaries(n, m, depth)
	if err != nil {
		return nil, err
	}
	for _, k := range m.keyed() {
		if err := freeIn(td, inner, k.path, depth); err != nil {
			err = r.damaged(r.fail(n, metaName, corrupt("field %s: %w", quote(k.name), err)))
			if err != nil {
				return nil, err
			}
			continue
		}
		if err := r.attach(n, td, inner, keyOf(k.path[:len(k.path)-1])); err != nil {
			return nil, err
		}
		v, err := r.value(n, m, k, depth)
		if err == nil {
			err = r.put(n, td, v, k.path...)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, node := range m.native.nodes { // dictionaries without leaves
		if err := r.attach(n, td, inner, keyOf(node.path)); err != nil {
			return nil, err
		}
	}
	return td, r.names(n, m, td)
}

// dictionaries returns the dictionaries in a growing one, by their keys. Each is attached before
// its first leaf, so that the entries have the same order as in the finished dataset.
func (r *reader) dictionaries(n tree, m *meta, depth int) (map[nestedkey.Key]*tdict.TensorDict, error) {
	td := tdict.New(m.shape...)
	inner := map[nestedkey.Key]*tdict.TensorDict{}
	for _, node := range m.native.nodes {
		err := freeIn(td, inner, node.path, depth)
		if err == nil {
			inner[keyOf(node.path)], err = node.dictionary(m.shape)
		}
		if err == nil {
			err = fitsAbove(td, inner, keyOf(node.path))
		}
		if err != nil {
			return nil, r.fail(n, metaName, corrupt("%w", err))
		}
	}
	return inner, nil
}

// fitsAbove returns an error unless the shape of the dictionary inner[key] begins with the shape of
// the dictionary around it, which is in inner, or td.
func fitsAbove(td *tdict.TensorDict, inner map[nestedkey.Key]*tdict.TensorDict, key nestedkey.Key) error {
	around := td.Shape()
	if above, ok := key.Parent(); ok {
		around = inner[above].Shape()
	}
	shape := inner[key].Shape()
	if len(shape) >= len(around) && slices.Equal(shape[:len(around)], around) {
		return nil
	}
	return fmt.Errorf("set %s: %w: got %v, want a shape that begins with %v", quote(string(key)), shapeops.ErrShape, shape, around)
}

// dictionary returns an empty dictionary of shape [N n.shape...], N being the first size of batch.
func (n nodeShape) dictionary(batch shapeops.Shape) (*tdict.TensorDict, error) {
	shape := append(batch[:1:1], n.shape...)
	if err := shape.Check(); err != nil {
		return nil, err
	}
	d := tdict.New(shape...)
	if n.names == nil {
		return d, nil
	}
	return d, d.SetNames(n.names...)
}

// attach sets the dictionary inner[key], and those around it, in td, unless they are there already.
func (r *reader) attach(n tree, td *tdict.TensorDict, inner map[nestedkey.Key]*tdict.TensorDict, key nestedkey.Key) error {
	d := inner[key]
	if d == nil {
		return nil
	}
	delete(inner, key)
	if above, ok := key.Parent(); ok {
		if err := r.attach(n, td, inner, above); err != nil {
			return err
		}
	}
	if err := td.Set(key, d); err != nil {
		return r.fail(n, metaName, corrupt("%w", err))
	}
	return nil
}

// freeIn returns an error unless there can be an entry at path, in td or a dictionary of inner.
func freeIn(td *tdict.TensorDict, inner map[nestedkey.Key]*tdict.TensorDict, path []string, depth int) error {
	if len(path) == 0 || len(path)+depth > tdict.MaxDepth {
		return fmt.Errorf("got a path of %d names, want 1 to %d", len(path), tdict.MaxDepth-depth)
	}
	key := keyOf(path)
	if inner[key] != nil || td.Has(key) {
		return fmt.Errorf("%w: %s", tdict.ErrExists, quote(string(key)))
	}
	above, ok := key.Parent()
	if !ok || inner[above] != nil {
		return nil
	}
	_, err := td.Dict(above)
	return err
}
