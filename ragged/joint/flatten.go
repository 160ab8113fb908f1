package joint

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
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

// FlattenLevel removes a level, as ragged.Tensor.FlattenLevel does, from all fields of the tree
// that have it. mode says what happens to the fields of the level above, which are the fields of
// depth 0 if level is 1. Other fields do not change.
//
// FlattenLevel returns shapeops.ErrDim for a level that the tree does not have, or for level 1 if
// there are fields of another tree, and ragged.ErrLengths, with the name and row, for a value
// without rows in mode First.
func (j *Joint) FlattenLevel(level int, mode FlattenMode) (_ *Joint, err error) {
	defer errtext.Name("flatten level", &err)
	rows, tree, deepest, err := j.levels()
	if err != nil {
		return nil, err
	}
	at, depth := level, deepest.Depth()
	if at < 0 {
		at += depth + 1
	}
	if at < 1 || at > depth {
		return nil, fmt.Errorf("%w: got level %d of %v, want 1 to %d", shapeops.ErrDim, level, deepest.Layout(), depth)
	}
	full, err := deepest.Layout().Compact().At(at)
	if err != nil {
		return nil, err
	}
	var p plan.Pass
	var fields []Field
	for f := range rows.Fields() {
		t, err := f.flatten(&p, tree, full, mode)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		if t != nil {
			fields = append(fields, Field{f.Name, t, f.Tree})
		}
	}
	return rows.like(fields)
}

// flatten returns the tensor of f after the last level of full, a layout of tree, was removed, or
// nil if the field is left out.
func (f Field) flatten(p *plan.Pass, tree string, full *ragged.Layout, mode FlattenMode) (*ragged.Tensor, error) {
	t, level := f.Tensor, full.Depth()
	other := f.Tree != tree && t.Depth() > 0
	switch {
	case len(t.Shape()) == 0 || t.Depth() < level-1 || other && level > 1:
		return t, nil
	case other:
		return nil, fmt.Errorf("%w: its tree %q has other rows: Select the fields of one tree", shapeops.ErrDim, f.Tree)
	case t.Depth() >= level:
		return opsOf(t).FlattenIn(p, level)
	case mode == Drop:
		return nil, nil
	case mode == Repeat:
		out, err := t.Broadcast(full)
		if err != nil {
			return nil, err
		}
		return opsOf(out).FlattenIn(p, level)
	}
	values, err := t.Values()
	if err != nil {
		return nil, err
	}
	offsets, err := full.Offsets(level)
	if err != nil {
		return nil, err
	}
	starts := make([]int, len(offsets)-1)
	for row := range starts {
		if offsets[row] == offsets[row+1] {
			return nil, fmt.Errorf("row %d: %w: it has no rows at level %d for its value: use Repeat or Drop", row, ragged.ErrLengths, level)
		}
		starts[row] = int(offsets[row])
	}
	spread, err := tensor.New(t.DType(), append(shapeops.Shape{int(offsets[len(starts)])}, t.Features()...)...)
	if err != nil {
		return nil, err
	}
	if err := spread.SetIndex(values, ix.Take(starts...)); err != nil {
		return nil, err
	}
	out, err := ragged.New(spread, full)
	if err != nil {
		return nil, err
	}
	return opsOf(out).FlattenIn(p, level)
}
