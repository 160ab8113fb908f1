package memmap

import (
	"fmt"
	"slices"

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
	s := &siblings{r: r, n: n, entries: m.entries, grow: true, values: make([]tdict.Value, len(m.entries))}
	for i := range m.entries {
		e := &m.entries[i]
		if e.fact.rows != nil {
			e.fact.rows.among = s
		}
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
		if err := r.attach(n, td, inner, keyOf(e.fact.path[:len(e.fact.path)-1])); err != nil {
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
		if err := r.attach(n, td, inner, keyOf(node.path)); err != nil {
			return nil, err
		}
	}
	n.known().owners = s.owners
	return td, r.names(n, m, td)
}

// dictionaries returns the dictionaries within a growing one, by their keys. Each is settled before
// its first leaf, so that entries have the order which they have once the dataset is finished.
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

// fitsAbove returns an error unless the shape of the inner dictionary at key begins with the shape
// of the dictionary around it, which is td or in inner.
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
