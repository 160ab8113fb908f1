package tdict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// stackedKind is the kind of a Stacked. Operations apply to its members, so the result of Execute
// may be of another kind, a member, or nil.
type stackedKind struct{ kind[*Stacked] }

// A stackedCut is a plan divided into positions of the stack dim and a rest for each member. It is
// made once for all leaves of a pass.
type stackedCut struct {
	plan.Cut
	pass  plan.Pass // applies Rest
	whole bool      // Rest leaves members as they are
	ok    bool      // the plan can be divided
}

type cutKey struct{ dim int }

// cutAt returns the plan of p divided at a stack dim.
func cutAt(p *plan.Pass, dim int) *stackedCut {
	c, _ := plan.Once(p, cutKey{dim}, func() (*stackedCut, error) {
		cut, ok := p.Plan.Along(dim)
		return &stackedCut{cut, plan.Pass{Plan: cut.Rest, Workers: p.Workers}, ok && cut.Rest.Whole(), ok}, nil
	})
	return c
}

// positions returns the positions that c selects of a stack dim of size n.
func (c *stackedCut) positions(n int) []int {
	if c.Rows != nil {
		return c.Rows
	}
	return upTo(n)
}

// upTo returns 0, 1 ... n-1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// of applies the rest of the plan to a member.
func (c *stackedCut) of(m stackMember) (stackMember, error) {
	if m.value == nil || c.whole {
		return m, nil
	}
	v, err := opsOf(m.value).execute(m.value, &c.pass)
	from, to := len(c.Rest.From()), len(c.Rest.Shape())
	return stackMember{v, max(m.batch, from) - from + to}, err
}

// execute applies p.Plan to v. It returns a Stacked, the member if the plan selects one position,
// nil if there are no members at the selected positions, or a dense copy if the plan cannot be
// divided.
func (k *stackedKind) execute(v Value, p *plan.Pass) (Value, error) {
	s, _ := v.(*Stacked)
	if err := p.CheckPlan(s.shape); err != nil {
		return nil, err
	}
	c := cutAt(p, s.dim)
	if !c.ok {
		d, err := s.denseFor(p.Plan)
		if err != nil {
			return nil, err
		}
		return opsOf(d).execute(d, p)
	}
	members, some, err := s.cut(c)
	switch {
	case err != nil:
		return nil, err
	case len(members) == 0 && s.Uniform():
		return opsOf(s.first()).zerosLike(s.first(), new(plan.Pass), p.Extend(s.shape))
	case !some:
		return nil, nil
	case c.Dim < 0:
		return members[0].value, nil
	}
	return asValue(newStacked(c.Dim, members))
}

// cut returns the members of s at the positions that c selects, with the rest of the plan applied.
// some reports whether there is one.
func (s *Stacked) cut(c *stackedCut) (members []stackMember, some bool, err error) {
	rows := c.positions(len(s.members))
	members = make([]stackMember, len(rows))
	for i, row := range rows {
		if members[i], err = c.of(s.members[row]); err != nil {
			return nil, false, fmt.Errorf("member %d: %w", row, err)
		}
		some = some || members[i].value != nil
	}
	return members, some, nil
}

// denseFor is Dense for a plan that cannot be divided.
func (s *Stacked) denseFor(p *plan.Plan) (Value, error) {
	d, err := s.Dense()
	if err != nil {
		return nil, fmt.Errorf("%v combines stack dim %d with other dims, which needs a Dense value: %w", p, s.dim, err)
	}
	return d, nil
}

// into adds to tr: dst = v with p.Plan applied.
func (k *stackedKind) into(tr *tensor.Transfer, dst, v Value, p *plan.Pass) error {
	made, err := k.execute(v, p)
	if err != nil {
		return err
	}
	if made == nil {
		return errNoMember
	}
	return assign(tr, dst, made)
}

var errNoMember = fmt.Errorf("%w: none of the selected members has it", ErrMissing)

// assign adds to tr: dst = v, a value of the same shape.
func assign(tr *tensor.Transfer, dst, v Value) error {
	if err := dst.Shape().CheckEqual(v.Shape()); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	whole, err := plan.Index(nil)
	if err != nil {
		return err
	}
	s, isStacked := v.(*Stacked)
	if _, both := dst.(*Stacked); both || !isStacked {
		return opsOf(dst).write(tr, dst, v, plan.NewPass(whole))
	}
	for i, m := range s.members { // member by member, without a dense copy
		if m.value == nil {
			return s.lacks(i)
		}
		row, err := rowPlan(dst.Shape(), s.dim, i)
		if err == nil {
			err = opsOf(dst).write(tr, dst, m.value, plan.NewPass(row))
		}
		if err != nil {
			return fmt.Errorf("member %d: %w", i, err)
		}
	}
	return nil
}

// rowPlan returns the plan that selects position i of a dim.
func rowPlan(s shapeops.Shape, dim, i int) (*plan.Plan, error) {
	if dim >= len(s) {
		return nil, fmt.Errorf("%w: got %v, want a dim %d", shapeops.ErrShape, s, dim)
	}
	expr := make([]ix.Index, dim, dim+1)
	return plan.Index(s[:dim+1], append(expr, ix.At(i))...)
}

// rowOf returns position i of a dim of v, or nil if v is a Stacked along that dim without that
// member.
func rowOf(v Value, dim, i int) (Value, error) {
	p, err := rowPlan(v.Shape(), dim, i)
	if err != nil {
		return nil, err
	}
	return opsOf(v).execute(v, plan.NewPass(p))
}

// write adds to tr: the part of dst that p.Plan selects = src, broadcast. If src is a Stacked along
// the same dim that lacks a member, the member of dst stays as it is.
func (k *stackedKind) write(tr *tensor.Transfer, dst, src Value, p *plan.Pass) error {
	s, _ := dst.(*Stacked)
	return k.put(tr, s, src, p, func(row int) error { return s.lacks(row) })
}

// put is write that calls without for a position at which s has no member.
func (k *stackedKind) put(tr *tensor.Transfer, s *Stacked, src Value, p *plan.Pass, without func(row int) error) error {
	if err := p.CheckPlan(s.shape); err != nil {
		return err
	}
	c := cutAt(p, s.dim)
	if !c.ok {
		d, err := s.denseFor(p.Plan)
		if err != nil {
			return err
		}
		if err := run(func(tr *tensor.Transfer) error { return opsOf(d).write(tr, d, src, p) }); err != nil {
			return err
		}
		return assign(tr, s, d)
	}
	rows := c.positions(len(s.members))
	if err := s.checkApart(rows); err != nil {
		return err
	}
	for i, row := range rows {
		m := s.members[row]
		part, err := src, error(nil)
		if c.Dim >= 0 && m.value != nil {
			part, err = partOfSource(src, c.Dim, i, len(rows), len(c.pass.Plan.Extend(m.value.Shape())))
		}
		switch {
		case err != nil || part == nil:
		case m.value == nil:
			if err := without(row); err != nil {
				return err
			}
		default:
			err = opsOf(m.value).write(tr, m.value, part, &c.pass)
		}
		if err != nil {
			return fmt.Errorf("member %d: %w", row, err)
		}
	}
	return nil
}

// sameStackedKind reports whether one of two values is a Stacked and the other of the kind of its
// members.
func sameStackedKind(a, b Value) bool {
	s, ok := a.(*Stacked)
	x, also := b.(*Stacked)
	return ok && opsOf(s.first()) == opsOf(b) || also && opsOf(x.first()) == opsOf(a)
}

// differs reports whether v is a Stacked that is not uniform. Its members can then have dims that
// its shape lacks.
func differs(v Value) bool {
	s, ok := v.(*Stacked)
	return ok && !s.Uniform()
}

// partOfSource returns the part of src, broadcast, for position i of n of a dim. The member there
// has dims dims. It returns nil if src is a Stacked along that dim without that member.
func partOfSource(src Value, dim, i, n, dims int) (Value, error) {
	own := len(src.Shape())
	if s, ok := src.(*Stacked); ok {
		own = len(s.first().Shape()) + 1
	}
	at := dim - (dims + 1 - own)
	if at < 0 {
		return src, nil
	}
	if at < len(src.Shape()) && src.Shape()[at] == 1 {
		i = 0
	} else if at < len(src.Shape()) && src.Shape()[at] != n {
		return nil, fmt.Errorf("%w: got %v, want size %d or 1 for dim %d", shapeops.ErrShape, src.Shape(), n, at)
	}
	return rowOf(src, at, i)
}

// checkApart returns tensor.ErrOverlap if members at different positions share memory.
func (s *Stacked) checkApart(rows []int) error {
	if len(rows) < 2 {
		return nil
	}
	var all []*tensor.Tensor
	for _, row := range slices.Compact(slices.Sorted(slices.Values(rows))) {
		if t, ok := s.members[row].value.(*tensor.Tensor); ok {
			all = append(all, t)
		}
	}
	return tensor.CheckApart(all, nil)
}

// join joins the values of a column whose first value is a Stacked.
func (k *stackedKind) join(p *plan.Pass, xs []*TensorDict, c column) (Value, error) {
	values := make([]Value, len(xs))
	for i, x := range xs {
		v, err := c.of(x)
		if err == nil {
			v, err = asKindOf(v, cmp.Or(values[0], v))
		}
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
		values[i] = v
	}
	return k.joined(p, values)
}

// joinTo adds to tr: dst = the joined values of a column.
func (k *stackedKind) joinTo(tr *tensor.Transfer, dst Value, p *plan.Pass, xs []*TensorDict, c column) error {
	v, err := k.join(p, xs, c)
	if err != nil {
		return err
	}
	return assign(tr, dst, v)
}

// joined joins values as p.Join says. Along the stack dim it concatenates the lists of members;
// along other dims it joins the members at each position. If a value is not stacked, or along
// another dim, or if the join pads, it joins Dense values.
func (k *stackedKind) joined(p *plan.Pass, values []Value) (Value, error) {
	xs := make([]*Stacked, len(values))
	for i, v := range values {
		s, ok := v.(*Stacked)
		if xs[i] = s; !ok || s.dim != xs[0].dim || p.Join.Padded() {
			dense := make([]Value, len(values))
			for i, v := range values {
				d, err := denseOf(v)
				if err == nil && i > 0 && opsOf(d) != opsOf(dense[0]) {
					err = mismatch(d, dense[0])
				}
				if err != nil {
					return nil, fmt.Errorf("value %d: %w", i, err)
				}
				dense[i] = d
			}
			return opsOf(dense[0]).joined(p, dense)
		}
	}
	first, j := xs[0], p.Join
	rank := max(j.Rank(), first.dim+1)
	if err := j.Check(len(xs), func(i int) shapeops.Shape { return xs[i].shape[:min(rank, len(xs[i].shape))] }); err != nil {
		return nil, err
	}
	var members []stackMember
	if !j.New() && j.Dim() == first.dim {
		for _, x := range xs {
			members = append(members, x.members...)
		}
		return asValue(newStacked(first.dim, members))
	}
	dim := first.dim
	if j.New() && dim >= j.Dim() {
		dim++
	}
	pass := plan.Pass{Join: j.Without(dim), Workers: p.Workers}
	for i := range first.members {
		m, err := joinMembers(&pass, xs, i)
		if err != nil {
			return nil, fmt.Errorf("member %d: %w", i, err)
		}
		members = append(members, m)
	}
	return asValue(newStacked(dim, members))
}

// joinMembers joins the members of xs at a position. It returns a stackMember without a value if no
// x has one there.
func joinMembers(p *plan.Pass, xs []*Stacked, at int) (stackMember, error) {
	values := make([]Value, len(xs))
	first := xs[0].members[at]
	for i, x := range xs {
		values[i] = x.members[at].value
		if (values[i] == nil) != (first.value == nil) {
			return stackMember{}, fmt.Errorf("value %d: %w", i, ErrMissing)
		}
		if values[i] != nil && opsOf(values[i]) != opsOf(first.value) {
			return stackMember{}, fmt.Errorf("value %d: %w", i, mismatch(values[i], first.value))
		}
	}
	if first.value == nil {
		return first, nil
	}
	if p.Join.New() {
		first.batch++
	}
	v, err := opsOf(first.value).joined(p, values)
	return stackMember{v, first.batch}, err
}

// each returns s with fn applied to each member.
func (s *Stacked) each(fn func(v Value) (Value, error)) (*Stacked, error) {
	members := slices.Clone(s.members)
	for i, m := range members {
		if m.value == nil {
			continue
		}
		v, err := fn(m.value)
		if err != nil {
			return nil, fmt.Errorf("member %d: %w", i, err)
		}
		members[i].value = v
	}
	return newStacked(s.dim, members)
}

func (k *stackedKind) clone(v Value, p *plan.Pass) (Value, error) {
	s, _ := v.(*Stacked)
	return asValue(s.each(func(v Value) (Value, error) { return opsOf(v).clone(v, p) }))
}

// passes reports whether the members are unbatched tensors, which operations on a part of the rows
// return unchanged.
func (k *stackedKind) passes(v Value) bool {
	s, _ := v.(*Stacked)
	return opsOf(s.first()).passes(s.first())
}

// zerosLike returns zeros for each member if shape is the shape of v. For another shape it returns
// a dense value, if the members are uniform.
func (k *stackedKind) zerosLike(v Value, p *plan.Pass, shape shapeops.Shape) (Value, error) {
	s, _ := v.(*Stacked)
	switch {
	case shape.Equal(s.shape):
		return asValue(s.each(func(v Value) (Value, error) { return opsOf(v).zerosLike(v, p, v.Shape()) }))
	case s.Uniform():
		return opsOf(s.first()).zerosLike(s.first(), p, shape)
	}
	return nil, fmt.Errorf("%w: got %s, want members of one dtype and shape for zeros of the new shape %v", shapeops.ErrShape, s.Text(), shape)
}

// alike returns the value that all members share with another shape, or nil if they differ.
func (k *stackedKind) alike(v Value, shape shapeops.Shape) (Value, error) {
	s, _ := v.(*Stacked)
	if !s.Uniform() {
		return nil, nil
	}
	d, err := s.Dense()
	if err != nil {
		return nil, err
	}
	return opsOf(d).alike(d, shape)
}

// fitStacked returns s as an entry of a dictionary with the given batch shape.
func fitStacked(s *Stacked, batch shapeops.Shape) (*Stacked, error) {
	return fitted(s, s.shape, batch, func() (*Stacked, error) {
		inner := slices.Delete(batch.Clone(), s.dim, s.dim+1)
		return s.each(func(v Value) (Value, error) { return opsOf(v).fitTo(v, inner) })
	})
}
