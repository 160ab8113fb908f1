package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A FlattenMode says what becomes of a field whose values have, one level deeper, several rows or
// none, when that level is flattened.
type FlattenMode uint8

// The modes of [Joint.FlattenLevel].
const (
	// Drop leaves such fields out.
	Drop FlattenMode = iota
	// First puts each value where the first of its rows is, and 0 where the others are. A value
	// that has no row is an error.
	First
	// Repeat puts each value where each of its rows is. A value that has none is left out.
	Repeat
)

// FlattenLevel ends a level, as [Tensor.FlattenLevel] does, in all fields of the tree that are so
// deep. What becomes of fields that lie in the level around it, mode says. The rest stays. If level
// 1 ends, fields of depth 0 are those that mode is about. It returns shapeops.ErrDim for a level
// that the tree has not, or for level 1 if there is another tree, and [ErrLengths], with name and
// row, for a value that has no row in mode First.
func (j *Joint) FlattenLevel(level int, mode FlattenMode) (*Joint, error) {
	rows, tree, l, err := j.levels()
	if err != nil {
		return nil, err
	}
	if level, err = l.level(level); err != nil {
		return nil, err
	}
	var p plan.Pass
	var fields []Field
	for f := range rows.Fields() {
		t, err := f.flatten(&p, tree, l, level, mode)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		if t != nil {
			fields = append(fields, Field{f.Name, t, f.Tree})
		}
	}
	return rows.like(fields)
}

// flatten returns a field of which a level of a tree has ended, or nil if it is left out.
func (f Field) flatten(p *plan.Pass, tree string, deepest *Layout, level int, mode FlattenMode) (*Tensor, error) {
	t := f.Tensor
	other := f.Tree != tree && t.Depth() > 0
	switch {
	case len(t.Shape()) == 0 || t.Depth() < level-1 || other && level > 1:
		return t, nil
	case other:
		return nil, fmt.Errorf("%w: its tree %q has rows of its own: Select fields of one", shapeops.ErrDim, f.Tree)
	}
	if t.Depth() >= level {
		return relayout(p, t, func(l *Layout) (*Layout, error) { return flattened(p, l, level) })
	}
	if mode == Drop {
		return nil, nil
	}
	s, err := t.straight(p)
	if err != nil {
		return nil, err
	}
	full := deepest.picked(p).layout.at(level)
	flat, err := flattened(p, full, level)
	if err != nil {
		return nil, err
	}
	return s.spread(full, flat, mode)
}

// spread returns the values of t as those of a layout one level deeper, flat.
func (t *Tensor) spread(full, flat *Layout, mode FlattenMode) (*Tensor, error) {
	if mode == Repeat {
		out, err := t.Broadcast(full)
		if err != nil {
			return nil, err
		}
		return &Tensor{layout: flat, values: out.values}, nil
	}
	runs := make([]shapeops.Run, 0, t.values.Shape()[0])
	for row := range full.offsets[1:] {
		if full.offsets[row] == full.offsets[row+1] {
			return nil, fmt.Errorf("row %d: %w: it has no row at level %d, where its value would be: see Repeat and Drop", row, ErrLengths, full.depth)
		}
		runs = append(runs, shapeops.Run{To: int(full.offsets[row]), From: row, Len: 1})
	}
	values, err := t.room(flat.numbered())
	if err != nil {
		return nil, err
	}
	zero, err := tensor.New(t.DType())
	if err != nil {
		return nil, err
	}
	var tr tensor.Transfer
	if err := tr.FillRuns(values, t.values, zero, runs); err != nil {
		return nil, err
	}
	return finished(&Tensor{layout: flat, values: values}, tr.Run())
}
