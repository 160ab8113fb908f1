package memmap

import (
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// inner returns the value of the directory of the entry e.
func (r *reader) inner(n tree, e *metaEntry, batch shapeops.Shape, depth int) (tdict.Value, error) {
	inner, err := n.node(e.name)
	if err != nil {
		return nil, err
	}
	v, err := r.node(inner, e, batch, depth+1)
	if failed := inner.close(); err == nil {
		err = r.fail(inner, "", failed)
	}
	return v, err
}

// dict returns the dictionary of the node n.
func (r *reader) dict(n tree, m *meta, depth int) (tdict.Value, error) {
	if err := r.checkListed(n, m); err != nil {
		return nil, err
	}
	if m.native.growing {
		return r.growing(n, m, depth)
	}
	if m.isPool() {
		return valueOr(r.pooled(n, "", m.parts(), m.shape))
	}
	td := tdict.New(m.shape...)
	for _, k := range m.keyed() {
		v, err := r.value(n, m, k, depth)
		if err == nil && td.Has(keyOf(k.path)) { // "text" beside "text.@pool"
			err, v = r.damaged(r.fail(n, metaName, corrupt("two entries are %s", quote(k.path[0])))), nil
		}
		if err == nil {
			err = r.put(n, td, v, k.path...)
		}
		if err != nil {
			return nil, err
		}
	}
	return td, r.names(n, m, td)
}

// names sets the names that m has for the dims of td. Dictionaries in td take them over.
func (r *reader) names(n tree, m *meta, td *tdict.TensorDict) error {
	if m.native.names == nil {
		return nil
	}
	return r.damaged(r.fail(n, metaName, asCorrupt(td.SetNames(m.native.names...))))
}

// value reads an entry. It returns nil if the entry is left out.
func (r *reader) value(n tree, m *meta, k keyed, depth int) (v tdict.Value, err error) {
	defer r.damage.enter(k.path...)()
	if k.e != nil {
		v, err = r.entry(n, k.e, m.shape, depth)
	} else {
		v, err = valueOr(r.pooled(n, strings.Join(k.path, "/"), k.parts, m.shape))
	}
	if err != nil {
		return nil, r.damaged(err)
	}
	return v, nil
}

// put sets v in td under the key with the given parts, unless v is nil.
func (r *reader) put(n tree, td *tdict.TensorDict, v tdict.Value, parts ...string) error {
	if v == nil {
		return nil
	}
	defer r.damage.enter(parts...)()
	return r.damaged(r.fail(n, metaName, asCorrupt(td.Set(keyOf(parts), v))))
}

// asCorrupt returns err as ErrCorrupt; nil stays nil.
func asCorrupt(err error) error {
	if err == nil {
		return nil
	}
	return corrupt("%w", err)
}

// checkListed returns ErrUnsupported if n has dictionaries that m does not list, as before v0.4.
func (r *reader) checkListed(n tree, m *meta) error {
	if !m.old() {
		return nil
	}
	names, err := n.unlisted()
	if err == nil && len(names) > 0 {
		err = unsupported("it does not list the dictionary in the directory %s, as tensordict before v0.4 wrote it: add %s:{\"type\":\"TensorDict\"} to it, or move the directory away", quote(names[0]), quote(names[0]))
	}
	return r.fail(n, metaName, err)
}

// inner plans to save td as the entry e of n.
func (s *saver) inner(n *savedNode, e *metaEntry, td *tdict.TensorDict, depth int) error {
	e.class = entryClass(td)
	inner, err := s.claimNode(n, e.name)
	if err != nil {
		return err
	}
	return s.dict(inner, td, depth+1)
}

// dict plans to save td as the node n.
func (s *saver) dict(n *savedNode, td *tdict.TensorDict, depth int) error {
	if td.Class() != "" {
		return s.instance(n, td, depth)
	}
	return s.classless(n, td, depth)
}

// classless plans to save td as the node n, without its class.
func (s *saver) classless(n *savedNode, td *tdict.TensorDict, depth int) error {
	if _, lazy := tdict.StackDim(td); lazy {
		return s.lazy(n, td, depth)
	}
	return s.plain(n, td, depth)
}

// plain plans to save td, which is not a lazy stack, as the node n.
func (s *saver) plain(n *savedNode, td *tdict.TensorDict, depth int) error {
	if depth > tdict.MaxDepth {
		return s.fail(n.at, fmt.Errorf("%w: dictionaries nested more than %d deep", ErrName, tdict.MaxDepth))
	}
	if err := checkShape(td.Shape()); err != nil {
		return s.fail(n.at, err)
	}
	s.nodes = append(s.nodes, n)
	n.meta = &meta{shape: td.Shape(), entries: make([]metaEntry, td.NumEntries())}
	n.meta.native.names = dimNames(td)
	i := 0
	for key, v := range td.All() {
		e := &n.meta.entries[i]
		e.name, i = key.Name(), i+1
		if err := s.value(n, e, v, depth); err != nil {
			return err
		}
	}
	return nil
}

// dimNames returns the names of td's dims, or nil if no dim has one.
func dimNames(td *tdict.TensorDict) []string {
	for _, name := range td.Names() {
		if name != "" {
			return td.Names()
		}
	}
	return nil
}
