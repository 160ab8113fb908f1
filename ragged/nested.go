package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// An emptyKey is the key under which a pass keeps layouts with the depth of l and no rows.
type emptyKey struct{ l *Layout }

// EmptyIn implements plan.Nested. It returns shapeops.ErrShape if the batch shape is invalid.
func (t ops) EmptyIn(p *plan.Pass, batch ...int) (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	l, err := t.layout.emptied(p, batch)
	if err != nil {
		return nil, err
	}
	shape := append(shapeops.Shape{l.numbered()}, t.Features()...)
	var values *tensor.Tensor
	if t.values.Device() == tensor.Meta {
		values, err = tensor.NewMeta(t.DType(), shape...)
	} else { // called by its name, so that shape stays on the stack
		values, err = tensor.New(t.DType(), shape...)
	}
	return finished(&Tensor{layout: l, values: values}, err)
}

// emptied returns a layout with l's depth, in which every row of the batch is empty.
func (l *Layout) emptied(p *plan.Pass, batch shapeops.Shape) (*Layout, error) {
	known, _ := plan.Once(p, emptyKey{l}, func() (*[]*Layout, error) { return new([]*Layout), nil })
	for _, e := range *known {
		if e.Shape().Equal(batch) {
			return e, nil
		}
	}
	var out *Layout
	if l.outer == nil {
		made, err := NewLayout(batch)
		if err != nil {
			return nil, err
		}
		out = made
	} else {
		outer, err := l.outer.emptied(p, batch)
		if err != nil {
			return nil, err
		}
		out = outer.nested(make([]int64, outer.numbered()+1))
	}
	*known = append(*known, out)
	return out, nil
}

// NestIn implements plan.Nested. It shares t's values, unless t was permuted or repeats rows. It
// returns shapeops.ErrKind if outer is nil or not compact, and [ErrOffsets] if the batch shape is
// not [V].
func (t ops) NestIn(p *plan.Pass, outer *Layout) (*Tensor, error) {
	if !outer.made() || !outer.root().whole() {
		return nil, fmt.Errorf("%w: got a layout that is nil or not compact", shapeops.ErrKind)
	}
	if s := t.Shape(); len(s) != 1 || s[0] != outer.numbered() {
		return nil, fmt.Errorf("%w: got batch shape %v, want [%d], the number of rows in the last level of %v", ErrOffsets, s, outer.numbered(), outer)
	}
	s, err := t.compact(p)
	if err != nil {
		return nil, err
	}
	return &Tensor{layout: under(p, s.layout, 0, outer), values: s.values}, nil
}

// LayoutIn implements plan.Nested.
func (t ops) LayoutIn(p *plan.Pass) *Layout {
	if !t.made() {
		return nil
	}
	return t.layout.compact(p)
}

// CompactIn implements plan.Nested.
func (v ops) CompactIn(p *plan.Pass) (*Tensor, error) { return v.Tensor.compact(p) }
