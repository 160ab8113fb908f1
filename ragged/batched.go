package ragged

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Execute applies p.Plan to the batch of t; rows stay whole. Where the plan pads, rows are empty;
// at depth 0, where there are no rows, the values are p.Fill. The result shares t's values unless
// the plan picks by lists or masks, or lays pieces together. Execute returns shapeops.ErrShape
// unless the batch shape begins with the plan's shape.
func (t ops) Execute(p *plan.Pass) (*Tensor, error) {
	m, err := t.executed(p)
	if err != nil || m.view {
		return t.over(m), err
	}
	return t.copied(p, m, t.Tensor)
}

// executed returns how p.Plan moves the rows of t.
func (t *Tensor) executed(p *plan.Pass) (*moved, error) {
	if !t.made() {
		return nil, errNil
	}
	if err := p.CheckPlan(t.Shape()); err != nil {
		return nil, err
	}
	return t.layout.executed(p)
}

// over returns a view of t's values with the layout of m. It returns nil if m is nil.
func (t *Tensor) over(m *moved) *Tensor {
	if m == nil {
		return nil
	}
	return &Tensor{m.layout, t.values, true}
}

// copied copies the values of xs to new memory, as m says. xs[0] is t.
func (t *Tensor) copied(p *plan.Pass, m *moved, xs ...*Tensor) (*Tensor, error) {
	var tr tensor.Transfer
	out, err := t.addCopy(&tr, nil, p, m, xs...)
	if err != nil {
		return nil, err
	}
	return finished(out, tr.Run())
}

// addCopy adds to tr the copies that move the values of xs, the first of which is t, as m says.
// They go to the beginning of given, or to new memory if given is nil. The result has its values
// after tr has run.
func (t *Tensor) addCopy(tr *tensor.Transfer, given *tensor.Tensor, p *plan.Pass, m *moved, xs ...*Tensor) (*Tensor, error) {
	values, err := given, error(nil)
	if given == nil {
		values, err = t.uninit(m.rows())
	}
	if err != nil {
		return nil, err
	}
	out, to := &Tensor{layout: m.layout, values: values}, values
	if values.Shape()[0] > m.rows() {
		if to, err = values.Narrow(0, 0, m.rows()); err != nil {
			return nil, err
		}
	}
	if values.Device() == tensor.Meta {
		if given != nil && slices.ContainsFunc(xs, func(x *Tensor) bool { return x.values.Device() != tensor.Meta }) {
			return nil, fmt.Errorf("destination: %w", tensor.ErrMeta)
		}
		return out, nil
	}
	filled := 0
	for _, piece := range m.pieces {
		filled += piece.Len
	}
	if filled < m.rows() {
		fill := p.Fill
		if fill == nil {
			fill = 0
		}
		value, err := tensor.ScalarOf(t.DType(), fill)
		if err == nil {
			err = tr.Fill(to, value)
		}
		if err != nil {
			return nil, err
		}
	}
	for i, runs := range m.sorted(len(xs)) {
		if err := tr.Runs(to, xs[i].values, runs); err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
	}
	return out, nil
}

// AddExecute adds to tr: dst = p.Plan applied to t, as [Tensor.IndexInto] does.
func (t ops) AddExecute(tr *tensor.Transfer, dst *Tensor, p *plan.Pass) error {
	m, err := t.executed(p)
	if err != nil {
		return err
	}
	if m.view {
		m = m.layout.picked(p)
	}
	return t.addInto(tr, dst, p, m, t.Tensor)
}

// addInto adds to tr: dst = the values of xs, moved as m says. xs[0] is t. The values go
//
//	lengths stay, dst's rows are consecutive    to where they are
//	lengths stay, dst's rows are not            to new memory, then to each row
//	lengths change, dst's memory is large       to its beginning, if it has dst's rows alone
//	lengths change                              to new memory, which replaces dst's
func (t *Tensor) addInto(tr *tensor.Transfer, dst *Tensor, p *plan.Pass, m *moved, xs ...*Tensor) error {
	if err := t.checkInto(dst, m.layout); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	kept := dst.layout == m.layout || !dst.layout.root().repeats && dst.layout.Equal(m.layout) // the lengths
	if !kept {
		if err := dst.checkFixed(m.layout); err != nil {
			return fmt.Errorf("destination: %w", err)
		}
	}
	values, err := dst.values, error(nil)
	switch first, n, together := dst.layout.span(); {
	case kept && !together:
		made, err := t.copied(p, m, xs...)
		if err != nil {
			return err
		}
		return dst.addReplace(tr, made, true)
	case kept && n < values.Shape()[0]:
		values, err = values.Narrow(0, first, n)
	case !kept && (!dst.layout.root().whole() || values.Shape()[0] < m.rows()):
		values = nil
	}
	if err != nil {
		return err
	}
	out, err := t.addCopy(tr, values, p, m, xs...)
	if err != nil {
		return err
	}
	tr.Commit(func() { dst.layout, dst.values = out.layout, out.values })
	return nil
}

// checkInto returns an error unless dst has the shape of l, and t's depth, features and dtype.
func (t *Tensor) checkInto(dst *Tensor, l *Layout) error {
	if !dst.made() {
		return errNil
	}
	if err := dst.Shape().CheckEqual(l.Shape()); err != nil {
		return err
	}
	return t.checkLike(dst)
}

// checkLike returns an error unless x has t's depth, features and dtype.
func (t *Tensor) checkLike(x *Tensor) error {
	if x.Depth() != t.Depth() {
		return fmt.Errorf("%w: got %v with %d levels, want %d", ErrLengths, x.layout, x.Depth(), t.Depth())
	}
	if !x.Features().Equal(t.Features()) {
		return fmt.Errorf("%w: got features %v, want %v", shapeops.ErrShape, x.Features(), t.Features())
	}
	if x.DType() != t.DType() {
		return fmt.Errorf("%w: got %v, want %v", tensor.ErrDType, x.DType(), t.DType())
	}
	return nil
}

// Join joins xs as p.Join says, in a new tensor; rows stay whole. t is xs[0]. It implements
// shapeops.Stack and Cat. It returns [ErrLengths] if depths differ, shapeops.ErrShape if batch
// shapes or features differ, and tensor.ErrDType if dtypes differ.
func (t ops) Join(p *plan.Pass, xs []*Tensor) (*Tensor, error) {
	m, err := t.joined(p, xs)
	if err != nil {
		return nil, err
	}
	return t.copied(p, m, xs...)
}

// joined returns how p.Join moves the rows of xs.
func (t *Tensor) joined(p *plan.Pass, xs []*Tensor) (*moved, error) {
	if err := p.CheckJoin(len(xs)); err != nil {
		return nil, err
	}
	ls := make([]*Layout, len(xs))
	for i, x := range xs {
		if !x.made() {
			return nil, fmt.Errorf("value %d: %w", i, errNil)
		}
		if err := t.checkLike(x); err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
		ls[i] = x.layout
	}
	return join(p, ls)
}

// AddJoin adds to tr: dst = xs joined as p.Join says. dst is replaced as in [Tensor.IndexInto].
func (t ops) AddJoin(tr *tensor.Transfer, dst *Tensor, p *plan.Pass, xs []*Tensor) error {
	m, err := t.joined(p, xs)
	if err != nil {
		return err
	}
	return t.addInto(tr, dst, p, m, xs...)
}

// JoinInto is Join into dst. It implements shapeops.StackInto and CatInto. On an error nothing has
// changed.
func (v ops) JoinInto(p *plan.Pass, dst *Tensor, xs []*Tensor) error {
	return run(func(tr *tensor.Transfer) error { return v.AddJoin(tr, dst, p, xs) })
}

// AddWrite adds to tr: the rows of t that p.Plan selects = the rows of src, broadcast, as
// [Tensor.SetIndex] does.
func (t ops) AddWrite(tr *tensor.Transfer, src *Tensor, p *plan.Pass) error {
	if !t.made() || !src.made() {
		return errNil
	}
	if err := p.CheckPlan(t.Shape()); err != nil {
		return err
	}
	if err := t.checkLike(src); err != nil {
		return err
	}
	m, err := t.layout.written(p, src.layout)
	if err != nil {
		return err
	}
	if m.view {
		return tr.Runs(t.values, src.values, m.sorted(2)[1])
	}
	if err := t.checkFixed(m.layout); err != nil {
		return err
	}
	s, err := t.compact(p)
	if err != nil {
		return err
	}
	if m, err = s.layout.written(p, src.layout); err != nil {
		return err
	}
	if m.view {
		m = m.complete()
	}
	out, err := s.addCopy(tr, nil, p, m, s, src)
	if err != nil {
		return err
	}
	tr.Commit(func() { t.layout, t.values = out.layout, out.values })
	return nil
}

// Clone returns a copy of t in its own memory. It copies only the values of t's rows, not others
// that the memory of a view holds.
func (t *Tensor) Clone() (*Tensor, error) { return t.cloned(nil) }

// CloneIn implements plan.Nested.
func (v ops) CloneIn(p *plan.Pass) (*Tensor, error) { return v.Tensor.cloned(p) }

// cloned is Clone in a pass.
func (t *Tensor) cloned(p *plan.Pass) (*Tensor, error) {
	s, err := t.compact(p)
	if err != nil {
		return nil, err
	}
	if s.values != t.values && !s.values.SharesMemory(t.values) {
		return &Tensor{layout: s.layout, values: s.values}, nil
	}
	values, err := s.values.Clone()
	return finished(&Tensor{layout: s.layout, values: values}, err)
}
