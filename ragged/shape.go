package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Flatten ends a level: its rows are laid together in the rows of the level around it.
//
//	[N * *], Flatten(2) -> [N *]: all codes of each patient; Flatten(1) -> [V *], V visits
//
// Level 1 is laid together in the batch, which then has one dim. The result shares t's values, or,
// after a permutation, copies them. It returns shapeops.ErrDim for a level that t does not have.
func (t *Tensor) Flatten(level int) (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	at, err := t.layout.level(level)
	if err != nil {
		return nil, err
	}
	return relayout(nil, t, func(l *Layout) (*Layout, error) { return flattened(nil, l, at) })
}

// A flatKey is under which a pass keeps a layout whose innermost level has ended.
type flatKey struct{ l *Layout }

// flattened returns a straight layout, at least so deep, without the rows of a level.
func flattened(p *shapeops.Pass, l *Layout, level int) (*Layout, error) {
	last := l.at(level)
	flat, err := shapeops.Once(p, flatKey{last}, func() (*Layout, error) {
		if level > 1 {
			return last.outer.outer.nested(composed(last.outer.offsets, last.offsets)), nil
		}
		rows, err := shapeops.NewRows(last.numbered())
		return &Layout{rows: rows}, err
	})
	if err != nil {
		return nil, err
	}
	return under(p, l, level, flat), nil
}

// composed returns the offsets of what rows have in the rows that they have.
func composed(outer, inner []int64) []int64 {
	out := make([]int64, len(outer))
	for i, o := range outer {
		out[i] = inner[o]
	}
	return out
}

// Unflatten cuts the rows of a level into further rows:
//
//	t [N *], lengths integers [N *] -> [N * *]
//
// Each row of lengths, whose depth is the level, lists how long the rows are that a row of t is cut
// into; they add up to its length. Unflatten undoes [Tensor.Flatten], given [Tensor.Counts] of what
// was flattened. The result shares t's values, or, after a permutation, copies them. It returns
// shapeops.ErrDim if t is not so deep, and [ErrLengths], with level and row, if lengths are
// negative or do not add up.
func (t *Tensor) Unflatten(lengths *Tensor) (*Tensor, error) {
	if !t.made() || !lengths.made() {
		return nil, errNil
	}
	level, err := t.layout.level(lengths.Depth())
	if err != nil {
		return nil, fmt.Errorf("lengths: %w", err)
	}
	if err := lengths.checkBare(); err != nil {
		return nil, fmt.Errorf("lengths: %w", err)
	}
	s, err := lengths.straight(nil)
	if err != nil {
		return nil, err
	}
	cuts, err := s.cuts()
	if err != nil {
		return nil, fmt.Errorf("lengths: %w", err)
	}
	return relayout(nil, t, func(l *Layout) (*Layout, error) {
		at := l.at(level)
		if err := at.outer.checkEqual(s.layout.outer); err != nil {
			return nil, fmt.Errorf("lengths: %w", err)
		}
		for row, end := range composed(s.layout.offsets, cuts) {
			if want := at.offsets[row]; end != want {
				return nil, fmt.Errorf("lengths: level %d, row %d: %w: got lengths up to %d, want up to %d", level, max(row-1, 0), ErrLengths, end, want)
			}
		}
		return under(nil, l, level, s.layout.nested(cuts)), nil
	})
}

// cuts returns the values of a straight tensor of lengths as offsets.
func (t *Tensor) cuts() ([]int64, error) {
	list, err := t.values.Ints()
	if err != nil {
		return nil, err
	}
	lengths := make([]int64, len(list))
	for i, n := range list {
		lengths[i] = int64(n)
	}
	return offsetsOf(lengths)
}

// Counts returns how long each row of a level is, as a tensor int64 that ends before that level:
//
//	[N * *], Counts(1) -> [N], Counts(2) -> [N *]
//
// It returns shapeops.ErrDim for a level that t does not have.
func (t *Tensor) Counts(level int) (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	at, err := t.layout.level(level)
	if err != nil {
		return nil, err
	}
	l := t.layout.at(at).Straight()
	lengths, err := l.Lengths(at)
	if err != nil {
		return nil, err
	}
	return &Tensor{layout: l.outer, values: tensor.Vector(lengths...)}, nil
}

// Group lays rows of the batch together in groups that follow one another:
//
//	[N *], lengths of G numbers that add up to N -> [G * *]
//
// The batch becomes level 1. The result shares t's values, or, after a permutation, copies them. It
// returns shapeops.ErrDim if the batch has not exactly one dim, and [ErrLengths] if the lengths are
// negative or do not add up to N.
func (t *Tensor) Group(lengths ...int64) (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	groups, err := grouped(t.Shape(), lengths)
	if err != nil {
		return nil, err
	}
	return relayout(nil, t, func(l *Layout) (*Layout, error) { return under(nil, l, 0, groups), nil })
}

// grouped returns the layout of rows of a batch in groups.
func grouped(batch shapeops.Shape, lengths []int64) (*Layout, error) {
	if len(batch) != 1 {
		return nil, fmt.Errorf("%w: got the batch shape %v, want one dim: Flatten it first", shapeops.ErrDim, batch)
	}
	l, err := LayoutOf(shapeops.Shape{len(lengths)}, lengths)
	if err == nil && l.numbered() != batch[0] {
		err = fmt.Errorf("%w: got a sum of %d, want %d", ErrLengths, l.numbered(), batch[0])
	}
	return l, err
}

// Unsqueeze puts the batch into one row: [N *] -> [1 * *], with the batch as level 1. The result
// shares t's values, or, after a permutation, copies them. It returns shapeops.ErrDim if the batch
// has not exactly one dim.
func (t *Tensor) Unsqueeze() (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	return t.Group(int64(t.Shape().Size()))
}

// Squeeze undoes [Tensor.Unsqueeze]: [1 * *] -> [L *]. The result shares t's values. It returns
// shapeops.ErrShape unless the batch is one row, and shapeops.ErrDim at depth 0.
func (t *Tensor) Squeeze() (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	if t.Shape().Size() != 1 || t.Depth() == 0 {
		return nil, fmt.Errorf("%w: got %v, want one row that has rows", shapeops.ErrShape, t.layout)
	}
	return t.Flatten(1)
}
