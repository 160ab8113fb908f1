package tdc

import (
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/tdict"
)

// lazy plans td, a dictionary of stacked leaves, as the node n, with a node for each member. If td
// is locked, so are the members.
func (p *Plan) lazy(n int, td *tdict.TensorDict, depth int) error {
	dim, members, err := tdict.Members(td)
	if err != nil {
		return fileformat.Unsupported("a dictionary of stacked leaves: %w: call Dense first", err)
	}
	p.nodes[n].lazy, p.nodes[n].along = true, dim
	if p.nodes[n].dims, err = DimsOf(td, dim, members); err != nil {
		return err
	}
	if names := td.Names(); dim < len(names) {
		p.nodes[n].dim = names[dim]
	}
	for i, m := range members {
		if err := m.SetClass(""); err != nil { // the stack has the class
			return err
		}
		if td.Locked() {
			m.Lock()
		}
		inner, err := p.dict(strconv.Itoa(i), m, depth+1)
		if err != nil {
			return err
		}
		p.nodes[n].nodes = append(p.nodes[n].nodes, inner)
	}
	return nil
}

// lazy returns the dictionary of stacked leaves of a node.
func (b *builder) lazy(d *dict) (*tdict.TensorDict, error) {
	members := make([]*tdict.TensorDict, len(d.dicts))
	for _, inner := range d.dicts {
		i, _ := strconv.Atoi(inner.name) // checkMembers has checked it
		v, err := b.value(inner)
		if err != nil {
			return nil, fileformat.In(string(inner.key), err)
		}
		td, ok := v.(*tdict.TensorDict)
		if !ok {
			return nil, fileformat.In(string(inner.key), fileformat.Unsupported("a lazy stack whose member is not a dictionary"))
		}
		members[i] = td
	}
	if dims := len(members[0].Shape()); d.stackDim > dims {
		return nil, fileformat.Corrupt("got the stack_dim %d, want 0 to %d", d.stackDim, dims)
	}
	td, err := tdict.LazyStack(members, d.stackDim)
	if err != nil {
		return nil, fileformat.Unsupported("a lazy stack: %w", err)
	}
	if td, err = d.cut.Cut(td); err != nil {
		return nil, err
	}
	if err := CheckShape(td.Shape()); err != nil {
		return nil, asCorrupt(err)
	}
	if len(d.names) > 0 && d.names[0] != "" {
		names := slices.Clone(td.Names())
		names[d.stackDim] = d.names[0]
		if err := td.SetNames(names...); err != nil {
			return nil, asCorrupt(err)
		}
	}
	if err := td.SetClass(d.goClass); err != nil {
		return nil, asCorrupt(err)
	}
	return b.locked(td, d), nil
}

// locked locks td if its node says so.
func (b *builder) locked(td *tdict.TensorDict, d *dict) *tdict.TensorDict {
	if d.locked {
		td.Lock("it was locked when it was written")
	}
	return td
}
