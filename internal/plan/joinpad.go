package plan

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shape"
)

// Padding says how values of different lengths are stacked.
type Padding struct {
	Dim    int  // of a value; a negative dim counts from its last
	Left   bool // pad before the values
	Length int  // of the padded dim; 0 means the length of the longest value
}

// Padded plans to stack n values of these shapes, padded along a dim. It returns [shape.ErrShape]
// if there is no value, if their shapes differ in other dims, or if one is too long, and
// [shape.ErrDim] if they have no such dim.
func Padded(n int, shapeOf func(i int) shape.Shape, pad Padding) (*Join, error) {
	switch {
	case n == 0:
		return nil, fmt.Errorf("%w: got nothing to pad, want at least one value", shape.ErrShape)
	case pad.Length < 0:
		return nil, fmt.Errorf("%w: got length %d, want 0 or more", shape.ErrShape, pad.Length)
	}
	j := &Join{stack: true, pad: &pad}
	if pad.Dim < 0 { // counted in each leaf, whose shape is not known here
		j.shape = shape.Shape{n}
		return j, nil
	}
	joined, err := j.Joined(n, false, shapeOf)
	if err != nil {
		return nil, err
	}
	j.shape = joined
	return j, nil
}

// Within returns the plan for values whose joined batch shape is batch.
func (j *Join) Within(batch shape.Shape) *Join {
	if len(batch) <= len(j.shape) {
		return j
	}
	out := *j
	out.shape = batch
	return &out
}

// Padded reports whether the plan pads values that differ in length.
func (j *Join) Padded() bool { return j.pad != nil }

// PadDim returns the dim of a value of shape s along which the plan pads, and false if s has no
// such dim. If s is a batch shape, not the shape of a leaf, it has no dim that is counted from the
// last.
func (j *Join) PadDim(s shape.Shape, leaf bool) (dim int, ok bool) {
	switch {
	case j.pad == nil, j.pad.Dim >= len(s), j.pad.Dim < -len(s), j.pad.Dim < 0 && !leaf:
		return 0, false
	case j.pad.Dim < 0:
		return j.pad.Dim + len(s), true
	}
	return j.pad.Dim, true
}

// Joined returns the shape of the join of n values of these shapes. If the plan pads, batches that
// lack the dim to pad are joined without padding; leaves must have it. Joined returns
// [shape.ErrShape] if the shapes do not fit the plan or each other, and [shape.ErrDim] if a leaf
// lacks the dim.
func (j *Join) Joined(n int, leaf bool, shapeOf func(i int) shape.Shape) (shape.Shape, error) {
	if j.pad == nil {
		if err := j.Check(n, shapeOf); err != nil {
			return nil, err
		}
		return j.Extend(shapeOf(0)), nil
	}
	first := shapeOf(0)
	at, ok := j.PadDim(first, leaf)
	if !ok && leaf {
		return nil, fmt.Errorf("%w: got dim %d of %v to pad, want one of its dims", shape.ErrDim, j.pad.Dim, first)
	}
	longest, err := j.longest(n, at, ok, shapeOf)
	if err != nil {
		return nil, err
	}
	out := append(append(make(shape.Shape, 0, len(first)+1), n), first...)
	if ok {
		out[at+1] = longest
	}
	if err := out.Check(); err != nil {
		return nil, err
	}
	return out, out.CheckPrefix(j.shape)
}

// longest checks that values differ at most in dim at, if they have it, and returns the joined
// length of that dim.
func (j *Join) longest(n, at int, has bool, shapeOf func(i int) shape.Shape) (int, error) {
	first, longest := shapeOf(0), 0
	for i := range n {
		s := shapeOf(i)
		if !has {
			if err := s.CheckEqual(first); err != nil {
				return 0, fmt.Errorf("value %d: %w", i, err)
			}
			continue
		}
		if len(s) != len(first) || !s[:at].Equal(first[:at]) || !s[at+1:].Equal(first[at+1:]) {
			return 0, fmt.Errorf("value %d: %w: got %v, want the sizes of %v in all dims but dim %d", i, shape.ErrShape, s, first, at)
		}
		if j.pad.Length > 0 && s[at] > j.pad.Length {
			return 0, fmt.Errorf("value %d: %w: got length %d, want at most %d", i, shape.ErrShape, s[at], j.pad.Length)
		}
		longest = max(longest, s[at], j.pad.Length)
	}
	return longest, nil
}

// Place returns two parts of v, a view of the result of a plan that pads: the part that value i of
// shape s fills, and the part that is its padding. The padding is empty if there is none. leaf says
// whether s is the shape of a leaf or of a batch.
func (j *Join) Place(v shape.View, i int, s shape.Shape, leaf bool) (part, gap shape.View) {
	part = shape.View{Shape: s, Strides: v.Strides[1:], Offset: v.Offset + i*v.Strides[0]}
	gap = part
	at, ok := j.PadDim(s, leaf)
	if !ok {
		gap.Shape = shape.Shape{0}
		gap.Strides = []int{1}
		return part, gap
	}
	gap.Shape = s.Clone()
	gap.Shape[at] = v.Shape[at+1] - s[at]
	if j.pad.Left {
		part.Offset += gap.Shape[at] * v.Strides[at+1]
	} else {
		gap.Offset += s[at] * v.Strides[at+1]
	}
	return part, gap
}

// PadsLeft reports whether a plan pads before the values.
func (j *Join) PadsLeft() bool { return j.pad != nil && j.pad.Left }
