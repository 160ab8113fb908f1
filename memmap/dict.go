package memmap

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// dict is the codec of dictionaries: a node of its own.
type dict struct{}

func (dict) read(o *opener, n tree, m *meta, _ *metaEntry, _ shapeops.Shape, depth int) (tdict.Value, error) {
	if m.old() {
		if err := addUnlisted(o, n, m); err != nil {
			return nil, err
		}
	}
	if m.native.growing {
		return o.growing(n, m, depth)
	}
	values, err := o.values(n, m, depth)
	if err != nil {
		return nil, err
	}
	td := tdict.New(m.shape...)
	for i, v := range values {
		if err := o.put(n, td, v, m.entries[i].name); err != nil {
			return nil, err
		}
	}
	return td, o.names(n, m, td)
}

// values reads all entries, ragged rows last: their offsets may be those of a leaf in a dictionary
// among the others. A value that is passed over is nil.
func (o *opener) values(n tree, m *meta, depth int) ([]tdict.Value, error) {
	s := &siblings{o: o, n: n, entries: m.entries, values: make([]tdict.Value, len(m.entries))}
	read := func(rows bool) (err error) {
		for i := range m.entries {
			e := &m.entries[i]
			if (e.fact.rows != nil) != rows || err != nil {
				continue
			}
			if rows {
				e.fact.rows.among = s
			}
			s.values[i], err = o.value(n, m, e, depth, e.name)
		}
		return err
	}
	if err := read(false); err != nil {
		return nil, err
	}
	err := read(true)
	if t, ok := n.(*dirTree); ok {
		t.known.owners = s.owners
	}
	return s.values, err
}

// names gives the dims of td, and of the dictionaries in it, the names that m has for them.
func (o *opener) names(n tree, m *meta, td *tdict.TensorDict) error {
	if m.native.names == nil {
		return nil
	}
	return o.fault(o.fail(n, metaName, asCorrupt(td.SetNames(m.native.names...))))
}

// entry reads an entry and sets it in td under the key that has these parts.
func (o *opener) entry(n tree, m *meta, e *metaEntry, td *tdict.TensorDict, depth int, parts ...string) error {
	v, err := o.value(n, m, e, depth, parts...)
	if err != nil {
		return err
	}
	return o.put(n, td, v, parts...)
}

// value reads an entry whose key has these parts. It is nil if it is passed over.
func (o *opener) value(n tree, m *meta, e *metaEntry, depth int, parts ...string) (tdict.Value, error) {
	defer o.enter(parts...)()
	v, err := codecOf(e).open(o, n, e, m.shape, depth)
	if err != nil {
		return nil, o.fault(err)
	}
	return v, nil
}

// put sets a value in td under the key that has these parts, unless it was passed over.
func (o *opener) put(n tree, td *tdict.TensorDict, v tdict.Value, parts ...string) error {
	if v == nil {
		return nil
	}
	defer o.enter(parts...)()
	return o.fault(o.fail(n, metaName, asCorrupt(td.Set(nestedkey.Of(parts[0], parts[1:]...), v))))
}

// asCorrupt returns err, if there is one, as ErrCorrupt.
func asCorrupt(err error) error {
	if err == nil {
		return nil
	}
	return corrupt("%w", err)
}

// addUnlisted adds the nodes that lie there with a meta.json: before v0.4, meta.json did not list
// them.
func addUnlisted(o *opener, n tree, m *meta) error {
	names, err := n.unlisted()
	if err != nil {
		return err
	}
	listed := map[string]bool{"_tensordict": true}
	for i := range m.entries {
		listed[m.entries[i].name] = true
	}
	for _, name := range names {
		switch {
		case name == "_tensordict":
		case listed[name]:
			return o.fail(n, name, corrupt("a leaf has the same name"))
		default:
			if o.entries++; o.entries > o.maxEntries() {
				return o.fail(n, "", tooMany(o.maxEntries()))
			}
			m.entries = append(m.entries, metaEntry{name: name, class: dictClass})
		}
	}
	return nil
}

func (dict) save(s *saver, n *savedNode, e *metaEntry, v tdict.Value, depth int) error {
	e.class = dictClass
	inner, err := s.claimNode(n, e.name)
	if err != nil {
		return err
	}
	if err := s.dict(inner, v.(*tdict.TensorDict), depth+1); err != nil {
		return err
	}
	n.adopt(e.name, inner)
	return nil
}

// dict adds a dictionary, as the node n, to what is saved.
func (s *saver) dict(n *savedNode, td *tdict.TensorDict, depth int) error {
	if depth > tdict.MaxDepth {
		return s.fail(n.at, fmt.Errorf("%w: dictionaries nested more than %d deep", ErrName, tdict.MaxDepth))
	}
	if err := checkShape(td.Shape()); err != nil {
		return s.fail(n.at, err)
	}
	s.nodes = append(s.nodes, n)
	n.meta = &meta{shape: td.Shape(), entries: make([]metaEntry, td.NumEntries())}
	if td.Named() {
		n.meta.native.names = td.Names()
	}
	i := 0
	for key, v := range td.All() {
		e := &n.meta.entries[i]
		e.name, i = key.Name(), i+1
		c, err := codecFor(v)
		if err != nil {
			return s.fail(n.leaf(e.name), err)
		}
		if err := c.save(s, n, e, v, depth); err != nil {
			return err
		}
	}
	return s.share(n)
}
