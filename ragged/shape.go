package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// FlattenLevel removes a level: its rows are concatenated within each row of the level above.
//
//	[N * *], FlattenLevel(2) -> [N *]: all codes of each patient
//	[N * *], FlattenLevel(1) -> [V *]: V visits
//
// The rows of level 1 become the batch, which then has one dim. The result shares t's values, or
// copies them if t was permuted. FlattenLevel returns shapeops.ErrDim for a level that t does not
// have.
func (t *Tensor) FlattenLevel(level int) (_ *Tensor, err error) {
	defer errtext.Name("flatten level", &err)
	if !t.made() {
		return nil, errNil
	}
	at, err := t.layout.level(level)
	if err != nil {
		return nil, err
	}
	return relayout(nil, t, func(l *Layout) (*Layout, error) { return flattened(nil, l, at) })
}

// A flatKey is the key under which a pass keeps l with its innermost level flattened.
type flatKey struct{ l *Layout }

// flattened returns a compact layout, at least as deep as level, with that level flattened.
func flattened(p *plan.Pass, l *Layout, level int) (*Layout, error) {
	last := l.at(level)
	flat, err := plan.Once(p, flatKey{last}, func() (*Layout, error) {
		if level > 1 {
			return last.outer.outer.nested(composed(last.outer.offsets, last.offsets)), nil
		}
		rows, err := plan.NewRows(last.numbered())
		return &Layout{rows: rows}, err
	})
	if err != nil {
		return nil, err
	}
	return under(p, l, level, flat), nil
}

// composed returns outer's offsets, which count rows of inner, as offsets that count what inner's
// offsets count.
func composed(outer, inner []int64) []int64 {
	out := make([]int64, len(outer))
	for i, o := range outer {
		out[i] = inner[o]
	}
	return out
}

// UnflattenLevel adds a level: it cuts the rows of a level into smaller rows.
//
//	t [N *], lengths integers [N *] -> [N * *]
//
// The level is the depth of lengths. Each row of lengths lists the lengths of the pieces of one row
// of t, which add up to the length of that row. UnflattenLevel reverses [Tensor.FlattenLevel],
// given the [Tensor.Counts] of the level that was flattened. The result shares t's values, or
// copies them if t was permuted. UnflattenLevel returns shapeops.ErrDim if t has fewer levels than
// lengths, and [ErrLengths], with level and row, if lengths are negative or do not add up.
func (t *Tensor) UnflattenLevel(lengths *Tensor) (_ *Tensor, err error) {
	defer errtext.Name("unflatten level", &err)
	if !t.made() || !lengths.made() {
		return nil, errNil
	}
	level, err := t.layout.level(lengths.Depth())
	if err != nil {
		return nil, fmt.Errorf("lengths: %w", err)
	}
	s, err := lengths.compact(nil)
	if err != nil {
		return nil, err
	}
	if err := s.checkBare(); err != nil {
		return nil, fmt.Errorf("lengths: %w", err)
	}
	list, err := s.values.Ints()
	if err != nil {
		return nil, fmt.Errorf("lengths: %w", err)
	}
	each := make([]int64, len(list))
	for i, n := range list {
		each[i] = int64(n)
	}
	cuts, err := offsetsOf(each)
	if err != nil {
		return nil, fmt.Errorf("lengths: %w", err)
	}
	return relayout(nil, t, func(l *Layout) (*Layout, error) {
		around := l.at(level)
		if err := around.outer.CheckEqual(s.layout.outer); err != nil {
			return nil, fmt.Errorf("lengths: %w", err)
		}
		for row, end := range composed(s.layout.offsets, cuts) {
			if want := around.offsets[row]; end != want {
				return nil, fmt.Errorf("lengths: level %d, row %d: %w: got lengths up to %d, want up to %d", around.depth, max(row-1, 0), ErrLengths, end, want)
			}
		}
		return under(nil, l, level, s.layout.nested(cuts)), nil
	})
}

// Counts returns the lengths at a level as an int64 tensor, which has the levels above it:
//
//	[N * *], Counts(1) -> [N], Counts(2) -> [N *]
//
// It returns shapeops.ErrDim for a level that t does not have.
func (t *Tensor) Counts(level int) (_ *Tensor, err error) {
	defer errtext.Name("counts", &err)
	if !t.made() {
		return nil, errNil
	}
	at, err := t.layout.level(level)
	if err != nil {
		return nil, err
	}
	l := t.layout.at(at).Compact()
	return &Tensor{layout: l.outer, values: tensor.Vector(l.lengths()...)}, nil
}

// Group makes groups of consecutive rows of the batch, given the length of each group:
//
//	[N *], lengths of G numbers that add up to N -> [G * *]
//
// The batch becomes level 1. The result shares t's values, or copies them if t was permuted. Group
// returns shapeops.ErrDim unless the batch has one dim, and [ErrLengths] if lengths are negative or
// do not add up to N.
func (t *Tensor) Group(lengths ...int64) (_ *Tensor, err error) {
	defer errtext.Name("group", &err)
	if !t.made() {
		return nil, errNil
	}
	if len(t.Shape()) != 1 {
		return nil, fmt.Errorf("%w: got the batch shape %v, want one dim: Flatten it first", shapeops.ErrDim, t.Shape())
	}
	groups, err := LayoutOf(shapeops.Shape{len(lengths)}, lengths)
	if err == nil && groups.numbered() != t.Shape()[0] {
		err = fmt.Errorf("%w: got a sum of %d, want %d", ErrLengths, groups.numbered(), t.Shape()[0])
	}
	if err != nil {
		return nil, err
	}
	return relayout(nil, t, func(l *Layout) (*Layout, error) { return under(nil, l, 0, groups), nil })
}

// Broadcast repeats each value of t for all rows or values that a deeper layout has in its place:
//
//	t [N *], layout [N * *] -> [N * *]: the day of a visit for each of its codes
//
// The outer levels of layout must equal the layout of t. The result is a copy. Broadcast returns
// [ErrLengths] if they differ, and shapeops.ErrDim if layout has fewer levels than t.
func (t *Tensor) Broadcast(layout *Layout) (_ *Tensor, err error) {
	defer errtext.Name("broadcast", &err)
	if !t.made() {
		return nil, errNil
	}
	if !layout.made() {
		return nil, errNoLayout
	}
	around, err := layout.At(t.Depth())
	if err != nil {
		return nil, err
	}
	if err := around.CheckEqual(t.layout); err != nil {
		return nil, err
	}
	values, err := t.Values()
	if err != nil {
		return nil, err
	}
	deep := layout.Compact()
	if t.Depth() == layout.depth {
		values, err = values.Clone()
		return finished(&Tensor{layout: deep, values: values}, err)
	}
	values, err = shapeops.RepeatEach(values, 0, deep.counts(t.Depth()))
	return finished(&Tensor{layout: deep, values: values}, err)
}
