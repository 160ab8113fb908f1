package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Execute returns what p.Plan makes of t: of its batch, rows staying whole. Where the plan pads,
// rows are empty; a tensor of depth 0 is filled with p.Fill there. It shares t's values unless the
// plan picks by lists or masks, or lays pieces together. It returns shapeops.ErrShape if the batch
// shape does not begin with that of the plan.
func (v *verbs) Execute(p *plan.Pass) (*Tensor, error) {
	t := (*Tensor)(v)
	m, err := t.executed(p)
	if err != nil || m.view {
		return t.over(m), err
	}
	return t.arrived(p, m, t)
}

func (t *Tensor) executed(p *plan.Pass) (*moved, error) {
	if !t.made() {
		return nil, errNil
	}
	if err := p.CheckPlan(t.Shape()); err != nil {
		return nil, err
	}
	return t.layout.executed(p)
}

// over returns the tensor of t's values with another layout, or nil if there is none.
func (t *Tensor) over(m *moved) *Tensor {
	if m == nil {
		return nil
	}
	return &Tensor{m.layout, t.values, true}
}

// arrived is arrive in new memory, which it fills.
func (t *Tensor) arrived(p *plan.Pass, m *moved, xs ...*Tensor) (*Tensor, error) {
	var tr tensor.Transfer
	out, err := t.arrive(&tr, nil, p, m, xs...)
	if err != nil {
		return nil, err
	}
	return finished(out, tr.Run())
}

// arrive adds to tr what brings values of xs, the first of which is t, to where m says: in the
// first of given values, or, without these, in new memory. The result is filled by tr.
func (t *Tensor) arrive(tr *tensor.Transfer, given *tensor.Tensor, p *plan.Pass, m *moved, xs ...*Tensor) (*Tensor, error) {
	values, err := given, error(nil)
	if given == nil {
		values, err = t.room(m.rows())
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
		return finished(out, checkMeta(given, xs))
	}
	if fill, padded := t.filling(p, m); padded {
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

// checkMeta returns tensor.ErrMeta if elements are to come to given values that have none.
func checkMeta(given *tensor.Tensor, xs []*Tensor) error {
	for _, x := range xs {
		if given != nil && x.values.Device() != tensor.Meta {
			return fmt.Errorf("destination: %w", tensor.ErrMeta)
		}
	}
	return nil
}

// filling returns what rows of depth 0 that come from nowhere are filled with, if there are some.
func (t *Tensor) filling(p *plan.Pass, m *moved) (fill any, padded bool) {
	rows := 0
	for _, p := range m.pieces {
		rows += p.Len
	}
	if rows == m.rows() {
		return nil, false
	}
	if fill, _ = p.FillHere(); fill == nil {
		fill = 0
	}
	return fill, true
}

// place returns where in t's memory values come that m moves: where they lie, if rows keep their
// lengths, or else to its beginning, if there is enough and no other rows lie in it; nil if not.
func (t *Tensor) place(m *moved, kept bool) (*tensor.Tensor, error) {
	if first, n, ok := t.layout.span(); ok && kept {
		if n == t.values.Shape()[0] {
			return t.values, nil
		}
		return t.values.Narrow(0, first, n)
	}
	if t.layout.root().whole() && t.values.Shape()[0] >= m.rows() {
		return t.values, nil
	}
	return nil, nil
}

// keeps reports whether rows of t that are moved keep their lengths, and are there once.
func (t *Tensor) keeps(m *moved) bool {
	return t.layout == m.layout || !t.layout.root().repeats && t.layout.Equal(m.layout)
}

// AddExecute adds to tr: dst = what p.Plan makes of t, as [Tensor.IndexInto] says.
func (v *verbs) AddExecute(tr *tensor.Transfer, dst *Tensor, p *plan.Pass) error {
	t := (*Tensor)(v)
	m, err := t.executed(p)
	if err != nil {
		return err
	}
	if m.view {
		m = m.layout.picked(p)
	}
	return t.settle(tr, dst, p, m, t)
}

// settle adds to tr: dst = values of xs, of which t is the first, where m says.
func (t *Tensor) settle(tr *tensor.Transfer, dst *Tensor, p *plan.Pass, m *moved, xs ...*Tensor) error {
	if err := t.checkInto(dst, m.layout); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	kept := dst.keeps(m)
	if !kept {
		if err := dst.checkFixed(m.layout); err != nil {
			return fmt.Errorf("destination: %w", err)
		}
	}
	if _, _, ok := dst.layout.span(); !ok && kept {
		return t.through(tr, dst, p, m, xs...)
	}
	values, err := dst.place(m, kept)
	if err != nil {
		return err
	}
	out, err := t.arrive(tr, values, p, m, xs...)
	if err != nil {
		return err
	}
	tr.Commit(func() { dst.layout, dst.values = out.layout, out.values })
	return nil
}

// through is settle in a permuted dst, whose rows keep their lengths and places.
func (t *Tensor) through(tr *tensor.Transfer, dst *Tensor, p *plan.Pass, m *moved, xs ...*Tensor) error {
	made, err := t.arrived(p, m, xs...)
	if err != nil {
		return err
	}
	return dst.become(tr, made, true)
}

// checkInto returns an error unless dst can hold values of t in a layout.
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

// Join lays xs side by side as p.Join says, rows staying whole, in a new tensor; t is xs[0]. It is
// what shapeops.Stack and Cat call. It returns [ErrLengths] if depths differ, shapeops.ErrShape if
// shapes of the batch or of features do, and tensor.ErrDType if dtypes do.
func (v *verbs) Join(p *plan.Pass, xs []*Tensor) (*Tensor, error) {
	t := (*Tensor)(v)
	m, err := t.joined(p, xs)
	if err != nil {
		return nil, err
	}
	return t.arrived(p, m, xs...)
}

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

// AddJoin adds to tr: dst = xs laid side by side as p.Join says, as [Tensor.IndexInto] does.
func (v *verbs) AddJoin(tr *tensor.Transfer, dst *Tensor, p *plan.Pass, xs []*Tensor) error {
	t := (*Tensor)(v)
	m, err := t.joined(p, xs)
	if err != nil {
		return err
	}
	return t.settle(tr, dst, p, m, xs...)
}

// JoinInto lays xs side by side as p.Join says, in dst. It is what shapeops.StackInto and CatInto
// call. On an error nothing has changed.
func (v *verbs) JoinInto(p *plan.Pass, dst *Tensor, xs []*Tensor) error {
	return run(func(tr *tensor.Transfer) error { return v.AddJoin(tr, dst, p, xs) })
}

// AddWrite adds to tr: the rows of t that p.Plan selects = those of src, broadcast, as
// [Tensor.SetIndex] says.
func (v *verbs) AddWrite(tr *tensor.Transfer, src *Tensor, p *plan.Pass) error {
	t := (*Tensor)(v)
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
	return t.rewrite(tr, src, p)
}

// rewrite is Write of rows whose lengths change: all rows of t come to new memory.
func (t *Tensor) rewrite(tr *tensor.Transfer, src *Tensor, p *plan.Pass) error {
	s, err := t.straight(p)
	if err != nil {
		return err
	}
	m, err := s.layout.written(p, src.layout)
	if err != nil {
		return err
	}
	if m.view {
		m = m.complete()
	}
	out, err := s.arrive(tr, nil, p, m, s, src)
	if err != nil {
		return err
	}
	tr.Commit(func() { t.layout, t.values = out.layout, out.values })
	return nil
}

// Clone returns a copy of t with memory of its own, of the rows that t has and no others.
func (t *Tensor) Clone() (*Tensor, error) { return t.cloned(nil) }

// CloneIn implements plan.Nested.
func (v *verbs) CloneIn(p *plan.Pass) (*Tensor, error) { return (*Tensor)(v).cloned(p) }

// cloned is Clone in a pass.
func (t *Tensor) cloned(p *plan.Pass) (*Tensor, error) {
	s, err := t.straight(p)
	if err != nil {
		return nil, err
	}
	if s.values != t.values && !s.values.SharesMemory(t.values) {
		return &Tensor{layout: s.layout, values: s.values}, nil
	}
	values, err := s.values.Clone()
	return finished(&Tensor{layout: s.layout, values: values}, err)
}
