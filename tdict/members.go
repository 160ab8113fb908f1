package tdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
)

// StackDim returns the stack dim of td if it is a lazy stack, and false for any other dictionary. A
// lazy stack is the result of [LazyStack], or of an operation on one that keeps the stack dim, or a
// dictionary that has a [Stacked] leaf as an entry. [Members] returns its members. A dictionary
// that only has lazy stacks as entries is not one itself, and nor is nil. (Python: stack_dim.)
func StackDim(td *TensorDict) (dim int, ok bool) {
	if td == nil {
		return 0, false
	}
	if td.stack != nil {
		return td.stack.dim, true
	}
	for _, v := range td.entries.all() {
		if s, ok := v.(*Stacked); ok {
			return s.dim, true
		}
	}
	return 0, false
}

// Members is the reverse of [LazyStack]: it returns the stack dim of td and, for each position of
// it, the dictionary there, with the batch shape that LazyStack was given. A dictionary lacks the
// keys that have no member there. Leaves that are not [Stacked] are cut into rows. Values are
// shared, as by Index.
//
// If the shape of a value of a member does not begin with the member's batch shape, as after Set of
// a value for all members, the batch shapes of all members are cut to the leading dims for which it
// does.
//
// Members returns [ErrKind] if td is nil or [StackDim] reports false. If LazyStack did not make td,
// it returns shapeops.ErrShape, with the key, for a Stacked entry that is stacked along another dim
// than the first one, or along a dim after the batch shape.
func Members(td *TensorDict) (dim int, tds []*TensorDict, err error) {
	if td == nil {
		return 0, nil, failed("members", errNil)
	}
	if dim, err = td.checkStackDim(); err != nil {
		return 0, nil, failed("members", err)
	}
	tds = make([]*TensorDict, td.batch[dim])
	for i := range tds {
		row, err := rowPlan(td.batch, dim, i)
		if err == nil {
			tds[i], err = td.executed("members", row, nil)
		}
		if err != nil {
			return 0, nil, failed("members", err)
		}
	}
	td.restore(dim, tds)
	return dim, tds, nil
}

// checkStackDim is StackDim that returns an error if td is not a lazy stack, or has Stacked entries
// of several stack dims that no LazyStack has put there.
func (td *TensorDict) checkStackDim() (dim int, err error) {
	dim, ok := StackDim(td)
	if !ok {
		return 0, fmt.Errorf("%w: got %s, want a lazy stack", ErrKind, describeDict(td))
	}
	if td.stack != nil {
		return dim, nil
	}
	for name, v := range td.entries.all() {
		if s, ok := v.(*Stacked); ok && s.dim != dim {
			return 0, failedKey("members", name, fmt.Errorf("%w: got stack dim %d, want %d as for the leaves before", shapeops.ErrShape, s.dim, dim))
		} else if ok && dim >= len(td.batch) {
			return 0, failedKey("members", name, fmt.Errorf("%w: got stack dim %d after the batch shape %v", shapeops.ErrShape, dim, td.batch))
		}
	}
	return dim, nil
}

// restore gives rows, the positions of a dim of td, the batch shapes that LazyStack was given, and
// likewise the dictionaries in them. A row is nil if td, a dictionary in another, has none there.
func (td *TensorDict) restore(dim int, rows []*TensorDict) {
	for c, v := range td.entries.columns() {
		if d, ok := v.(*TensorDict); ok {
			inner := make([]*TensorDict, len(rows))
			for i, row := range rows {
				if row != nil {
					w, _ := row.entries.get(c.name)
					inner[i], _ = w.(*TensorDict)
				}
			}
			d.restore(dim, inner)
		}
	}
	batches := make([]shapeops.Shape, len(rows))
	dims := math.MaxInt // that no batch shape exceeds
	for i, row := range rows {
		if row == nil {
			continue
		}
		batches[i] = row.batch
		if s := td.stack; s != nil && s.dim == dim {
			if m, ok := s.members[i].value.(*TensorDict); ok {
				batches[i], row.stack = m.batch, m.stack // row has none if its batch shape lacks the stack dim
			}
		}
		for _, v := range row.entries.all() {
			if n := agreeing(batches[i], v.Shape()); n < len(batches[i]) {
				dims = min(dims, n)
			}
		}
	}
	for i, row := range rows {
		if row != nil {
			row.batch = batches[i][:min(dims, len(batches[i]))]
			row.names = row.prefixNames(row.batch)
			row.stack = row.stack.withBatch(row.batch)
		}
	}
}

// planned returns s after p.Plan, of a dictionary that has the given batch shape then, or nil if
// the result is no lazy stack. If the plan selects one position of the stack dim, it returns what
// the member there keeps.
func (s *Stacked) planned(p *plan.Pass, batch shapeops.Shape) (*Stacked, error) {
	if s == nil {
		return nil, nil
	}
	c := cutAt(p, s.dim)
	if !c.ok {
		return nil, nil
	}
	members, some, err := s.cut(c)
	switch {
	case err != nil || !some:
		return nil, err
	case c.Dim < 0:
		td, _ := members[0].value.(*TensorDict)
		if td.batch.Equal(batch) {
			return td.stack, nil
		}
		return td.stack.withBatch(batch), nil
	}
	return newStacked(c.Dim, members)
}

// withBatch returns s, of a dictionary that gets the given batch shape: the batch shapes of members
// are made longer where they need to be. It returns nil if the batch shape has no stack dim.
func (s *Stacked) withBatch(batch shapeops.Shape) *Stacked {
	if s == nil || s.dim >= len(batch) || batch[s.dim] != len(s.members) {
		return nil
	}
	inner := slices.Delete(batch.Clone(), s.dim, s.dim+1)
	members, shape := slices.Clone(s.members), shapeops.Shape(nil)
	for i, m := range members {
		td, ok := m.value.(*TensorDict)
		if !ok {
			continue
		}
		if !td.batch.HasPrefix(inner) {
			td = &TensorDict{batch: inner, header: header{stack: td.stack.withBatch(inner)}}
			members[i] = stackMember{td, len(inner)}
		}
		if shape == nil {
			shape = td.batch
		}
		shape = shape[:agreeing(shape, td.batch)]
	}
	return &Stacked{s.dim, members, slices.Insert(shape.Clone(), s.dim, len(members))}
}
