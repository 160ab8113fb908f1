package memmap

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
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
	for _, inner := range m.native.nodes {
		shape := append(m.shape[:1:1], inner.shape...)
		err := freeIn(td, inner.path, depth)
		if err == nil {
			err = shape.Check()
		}
		if err == nil {
			d := tdict.New(shape...)
			if inner.names != nil {
				err = d.SetNames(inner.names...)
			}
			if err == nil {
				err = td.Set(nestedkey.Of(inner.path[0], inner.path[1:]...), d)
			}
		}
		if err != nil {
			return nil, r.fail(n, metaName, corrupt("%w", err))
		}
	}
	for i := range m.entries {
		e := &m.entries[i]
		if !e.fact.has { // added by somebody who knows nothing of it
			e.fact.path = []string{e.name}
		}
		if err := freeIn(td, e.fact.path, depth); err != nil {
			err = r.fault(r.fail(n, metaName, corrupt("field %s: %w", quote(e.name), err)))
			if err != nil {
				return nil, err
			}
			continue
		}
		v, err := r.value(n, m, e, depth, e.fact.path...)
		if err == nil {
			err = r.put(n, td, v, e.fact.path...)
		}
		if err != nil {
			return nil, err
		}
	}
	return td, r.names(n, m, td)
}

// freeIn returns an error unless there can be an entry at path, in a dictionary that is there.
func freeIn(td *tdict.TensorDict, path []string, depth int) error {
	if len(path) == 0 || len(path)+depth > tdict.MaxDepth {
		return fmt.Errorf("got a path of %d names", len(path))
	}
	key := nestedkey.Of(path[0], path[1:]...)
	if td.Has(key) {
		return fmt.Errorf("%w: %s", tdict.ErrExists, quote(string(key)))
	}
	if above, ok := key.Parent(); ok {
		_, err := td.Dict(above)
		return err
	}
	return nil
}
