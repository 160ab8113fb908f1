package message

import (
	"github.com/apache/arrow-go/v18/arrow"
)

// A node is a field of a schema: how its arrays are stored.
type node struct {
	name   string         // with the names of the fields around it, as in "a.b"
	typ    arrow.DataType // of the arrays
	stored arrow.DataType // typ, or what an extension type stores
	id     int64          // of the dictionary, or noDictionary
	values *node          // of the dictionary
	kids   []*node
}

// A plan is a schema with all that its messages need.
type plan struct {
	schema  *arrow.Schema
	columns []*node
	values  map[int64]*node // the values of dictionaries, by id
}

// newPlan returns the plan of a schema. ids has an id for each field, each before its children.
func newPlan(s *arrow.Schema, ids []int64) (*plan, error) {
	p := &plan{schema: s, values: map[int64]*node{}}
	b := planner{p, ids}
	for _, field := range s.Fields() {
		n, err := b.node(field.Name, field.Type)
		if err != nil {
			return nil, In("", "schema", field.Name, err)
		}
		p.columns = append(p.columns, n)
	}
	if len(b.ids) > 0 {
		return nil, In("", "schema", "", corrupt("got %d fields more than the types of the columns have", len(b.ids)))
	}
	return p, nil
}

// A planner makes nodes.
type planner struct {
	*plan
	ids []int64 // of the fields that follow
}

// node returns the node of a field.
func (p *planner) node(name string, typ arrow.DataType) (*node, error) {
	if len(p.ids) == 0 {
		return nil, corrupt("got fewer fields than the types of the columns have")
	}
	n := &node{name: name, typ: typ, stored: typ, id: p.ids[0]}
	p.ids = p.ids[1:]
	for {
		e, ok := n.stored.(arrow.ExtensionType)
		if !ok {
			break
		}
		n.stored = e.StorageType()
	}
	dict, ok := n.stored.(*arrow.DictionaryType)
	if ok != (n.id != noDictionary) {
		return nil, corrupt("got type %v, want one with a dictionary where the field has one", typ)
	}
	if !ok {
		return n, p.children(n)
	}
	n.values = &node{name: name, typ: dict.ValueType, stored: dict.ValueType, id: noDictionary}
	if before, ok := p.values[n.id]; ok && !arrow.TypeEqual(before.typ, dict.ValueType) {
		return nil, corrupt("dictionary %d has values of types %v and %v", n.id, before.typ, dict.ValueType)
	}
	p.values[n.id] = n.values
	return n, p.children(n.values)
}

// children adds the children of a node.
func (p *planner) children(n *node) error {
	if err := checkWidth(n.stored); err != nil {
		return err
	}
	nested, ok := n.stored.(arrow.NestedType)
	if !ok {
		return nil
	}
	for _, field := range nested.Fields() {
		kid, err := p.node(n.name+"."+field.Name, field.Type)
		if err != nil {
			return err
		}
		n.kids = append(n.kids, kid)
	}
	return nil
}

// checkWidth returns an error for a type with values of a negative size.
func checkWidth(t arrow.DataType) error {
	switch t := t.(type) {
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth < 0 {
			return corrupt("got values of %d bytes", t.ByteWidth)
		}
	case *arrow.FixedSizeListType:
		if t.Len() <= 0 {
			return corrupt("got lists of %d values", t.Len())
		}
	}
	return nil
}
