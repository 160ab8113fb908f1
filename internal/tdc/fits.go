package tdc

import "github.com/go-tensordict/tensordict/nestedkey"

// Dense reports whether all leaves are tensors or unbatched tensors, so that elements can be read
// straight to them, and all data is one value for all rows.
func (p *Plan) Dense() bool {
	for i := range p.nodes {
		if n := &p.nodes[i]; n.stack || n.lazy || n.rows != nil {
			return false
		}
	}
	for i := range p.leaves {
		if p.leaves[i].prefix != "" {
			return false
		}
	}
	return true
}

// Writable reports whether the elements of all leaves are contiguous and may be written.
func (p *Plan) Writable() bool {
	for i := range p.leaves {
		t := p.leaves[i].t
		if l := t.Lender(); l != nil && l.ReadOnly() || !t.View().IsContiguous() {
			return false
		}
	}
	return true
}

// Fits reports whether f has the keys of p in the same order, and the same dtypes, shapes and
// places. p must be [Plan.Dense].
func (f *Contents) Fits(p *Plan) bool { return f.size == p.size && p.fits(&p.nodes[0], f.root) }

func (p *Plan) fits(n *node, d *dict) bool {
	if d.class != dictClass || !d.batch.Equal(n.td.Shape()) ||
		len(d.leaves) != len(n.leaves) || len(d.dicts) != len(n.nodes) || len(d.data) != len(n.data) {
		return false
	}
	for i, l := range d.leaves {
		own := &p.leaves[n.leaves[i]]
		if l.name != own.name || l.DType != own.t.DType() || l.Start != own.start || !l.Shape.Equal(own.t.Shape()) {
			return false
		}
	}
	for i, x := range d.data {
		if x.name != n.data[i].name {
			return false
		}
	}
	for i, inner := range d.dicts {
		own := &p.nodes[n.nodes[i]]
		if inner.name != own.name || !p.fits(own, inner) {
			return false
		}
	}
	return true
}

// DataKeys returns the keys of data.
func (f *Contents) DataKeys() []nestedkey.Key { return f.root.dataKeys(nil) }

func (d *dict) dataKeys(keys []nestedkey.Key) []nestedkey.Key {
	for _, x := range d.data {
		keys = append(keys, keyIn(d, x.name))
	}
	for _, inner := range d.dicts {
		keys = inner.dataKeys(keys)
	}
	return keys
}
