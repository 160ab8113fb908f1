package memmap

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// growing reads a dataset that a Writer has not finished: its leaves lie flat in one node, and
// native fields say where each belongs.
func (r *reader) growing(n tree, m *meta, depth int) (tdict.Value, error) {
	if r.opt.Writable {
		return nil, r.fail(n, metaName, unfinished())
	}
	if len(m.shape) == 0 {
		return nil, r.fail(n, metaName, corrupt("a growing dictionary that is none"))
	}
	r.grows = true
	td := tdict.New(m.shape...)
	inner, err := r.dictionaries(n, m, depth)
	if err != nil {
		return nil, err
	}
	for i := range m.entries {
		e := &m.entries[i]
		if !e.fact.has { // added by somebody who knows nothing of it
			e.fact.path = []string{e.name}
		}
		if err := freeIn(td, inner, e.fact.path, depth); err != nil {
			err = r.fault(r.fail(n, metaName, corrupt("field %s: %w", quote(e.name), err)))
			if err != nil {
				return nil, err
			}
			continue
		}
		if err := r.settle(n, td, inner, keyOf(e.fact.path[:len(e.fact.path)-1])); err != nil {
			return nil, err
		}
		v, err := r.value(n, m, e, depth, e.fact.path...)
		if err == nil {
			err = r.put(n, td, v, e.fact.path...)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, node := range m.native.nodes { // those without a leaf
		if err := r.settle(n, td, inner, keyOf(node.path)); err != nil {
			return nil, err
		}
	}
	return td, r.names(n, m, td)
}

// dictionaries returns the dictionaries within a growing one, by their keys. Each is settled before
// its first leaf, so that entries have the order which they have once the dataset is finished.
func (r *reader) dictionaries(n tree, m *meta, depth int) (map[nestedkey.Key]*tdict.TensorDict, error) {
	all, inner := tdict.New(m.shape...), map[nestedkey.Key]*tdict.TensorDict{}
	for _, node := range m.native.nodes {
		d, err := node.dictionary(m.shape)
		if err == nil {
			err = freeIn(all, nil, node.path, depth)
		}
		if err == nil {
			inner[keyOf(node.path)] = d
			err = all.Set(keyOf(node.path), tdict.New(d.Shape()...))
		}
		if err != nil {
			return nil, r.fail(n, metaName, corrupt("%w", err))
		}
	}
	return inner, nil
}

// dictionary returns an empty one in a dictionary of a batch shape.
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

// settle puts the inner dictionary at key, and those above it, into td if they are not there yet.
func (r *reader) settle(n tree, td *tdict.TensorDict, inner map[nestedkey.Key]*tdict.TensorDict, key nestedkey.Key) error {
	d := inner[key]
	if d == nil {
		return nil
	}
	delete(inner, key)
	if above, ok := key.Parent(); ok {
		if err := r.settle(n, td, inner, above); err != nil {
			return err
		}
	}
	if err := td.Set(key, d); err != nil {
		return r.fail(n, metaName, corrupt("%w", err))
	}
	return nil
}

// keyOf returns the key of an entry, "" for no names.
func keyOf(path []string) nestedkey.Key {
	if len(path) == 0 {
		return ""
	}
	return nestedkey.Of(path[0], path[1:]...)
}

// freeIn returns an error unless there can be an entry at path, in a dictionary of td or inner.
func freeIn(td *tdict.TensorDict, inner map[nestedkey.Key]*tdict.TensorDict, path []string, depth int) error {
	if len(path) == 0 || len(path)+depth > tdict.MaxDepth {
		return fmt.Errorf("got a path of %d names", len(path))
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
