package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A FlattenMode says what happens to the fields in the level above the flattened one: each of their
// values may have several rows below it, or none.
type FlattenMode uint8

// The modes of [Joint.FlattenLevel].
const (
	// Drop leaves such fields out.
	Drop FlattenMode = iota
	// First puts each value at the first of its rows, and 0 at the others. A value without rows is
	// an error.
	First
	// Repeat puts each value at each of its rows. A value without rows is left out.
	Repeat
)

// FlattenLevel removes a level, as [Tensor.FlattenLevel] does, from all fields of the tree that
// have it. mode says what happens to the fields of the level above, which are the fields of depth 0
// if level is 1. Other fields do not change.
//
// FlattenLevel returns shapeops.ErrDim for a level that the tree does not have, or for level 1 if
// there are fields of another tree, and [ErrLengths], with the name and row, for a value without
// rows in mode First.
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

// flatten returns the tensor of f after a level of tree was removed, or nil if the field is left
// out.
func (f Field) flatten(p *plan.Pass, tree string, deepest *Layout, level int, mode FlattenMode) (*Tensor, error) {
	t := f.Tensor
	other := f.Tree != tree && t.Depth() > 0
	switch {
	case len(t.Shape()) == 0 || t.Depth() < level-1 || other && level > 1:
		return t, nil
	case other:
		return nil, fmt.Errorf("%w: its tree %q has other rows: Select the fields of one tree", shapeops.ErrDim, f.Tree)
	}
	if t.Depth() >= level {
		return relayout(p, t, func(l *Layout) (*Layout, error) { return flattened(p, l, level) })
	}
	if mode == Drop {
		return nil, nil
	}
	s, err := t.compact(p)
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

// spread returns the values of t in flat, as mode says. full is the layout of t with one more
// level, and flat is full with that level flattened.
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
			return nil, fmt.Errorf("row %d: %w: it has no rows at level %d for its value: use Repeat or Drop", row, ErrLengths, full.depth)
		}
		runs = append(runs, shapeops.Run{To: int(full.offsets[row]), From: row, Len: 1})
	}
	values, err := t.uninit(flat.numbered())
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
