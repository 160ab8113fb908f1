package plan

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// A Join says how values are joined along one dim. [Stack], [Cat] and [Padded] make Joins. Safe for
// concurrent use.
type Join struct {
	shape shape.Shape
	dim   int
	stack bool
	pad   *Padding // for values that differ in length, or nil
	few   [4]int   // memory for shape
}

// Shape returns the shape of the result; values may have equal trailing dims after it. The caller
// must not change it.
func (j *Join) Shape() shape.Shape { return j.shape }

// Dim returns the dim of Shape along which the values are joined.
func (j *Join) Dim() int { return j.dim }

// New reports whether Dim is new, so that each value fills one position of it: a stack.
func (j *Join) New() bool { return j.stack }

// Rank returns the number of leading dims of a value that the plan covers.
func (j *Join) Rank() int {
	if j.stack {
		return len(j.shape) - 1
	}
	return len(j.shape)
}

// Positions returns the number of positions of Dim that a value of shape s fills.
func (j *Join) Positions(s shape.Shape) int {
	if j.stack {
		return 1
	}
	return s[j.dim]
}

// Part plans to select the part that a value of shape s fills, from position start of Dim on:
//
//	Shape -> s[:Rank]
//
// It returns [shape.ErrShape] if s has too few dims, and [shape.ErrIndex] if the positions are out
// of range.
func (j *Join) Part(start int, s shape.Shape) (*Plan, error) {
	if len(j.shape) == 0 {
		return nil, errNoJoin
	}
	if err := j.checkRank(s); err != nil {
		return nil, err
	}
	if n := j.Positions(s); start < 0 || start > j.shape[j.dim]-n {
		return nil, fmt.Errorf("%w: got %d positions from %d of dim %d, want positions within its size %d",
			shape.ErrIndex, n, start, j.dim, j.shape[j.dim])
	}
	var few [4]ix.Index
	expr := append(few[:0], make([]ix.Index, j.dim)...)
	if j.stack {
		expr = append(expr, ix.At(start))
	} else {
		expr = append(expr, ix.Range(start, start+s[j.dim]))
	}
	return Index(j.shape, expr...)
}

// Extend returns the shape of the join of values of shape s.
func (j *Join) Extend(s shape.Shape) shape.Shape {
	trailing := s[j.Rank():]
	return append(append(make(shape.Shape, 0, len(j.shape)+len(trailing)), j.shape...), trailing...)
}

// Check returns [shape.ErrShape] unless values of these shapes fill Shape, and have equal dims
// after the dims that the plan covers.
func (j *Join) Check(n int, shapeOf func(i int) shape.Shape) error {
	first, filled := shapeOf(0), 0
	for i := range n {
		s := shapeOf(i)
		if i > 0 && s.Equal(first) {
			filled += j.Positions(s)
			continue
		}
		if err := j.checkRank(s); err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
		if !s[j.Rank():].Equal(first[j.Rank():]) {
			return fmt.Errorf("value %d: %w: got trailing dims %v, want %v",
				i, shape.ErrShape, s[j.Rank():], first[j.Rank():])
		}
		if !j.beside(s) {
			return fmt.Errorf("value %d: %w: got %v, want one that joins to %v", i, shape.ErrShape, s, j.shape)
		}
		filled += j.Positions(s)
	}
	if filled != j.shape[j.dim] {
		return fmt.Errorf("%w: got %d positions to join, want %d for %v", shape.ErrShape, filled, j.shape[j.dim], j.shape)
	}
	return nil
}

// CheckAlike is [Join.Check] for n values of shape s.
func (j *Join) CheckAlike(n int, s shape.Shape) error {
	if err := j.checkRank(s); err != nil {
		return err
	}
	if filled := n * j.Positions(s); !j.beside(s) || filled != j.shape[j.dim] {
		return fmt.Errorf("%w: got %d times %v to join, want %v", shape.ErrShape, n, s, j.shape)
	}
	return nil
}

// beside reports whether s has the plan's dims other than the dim along which values are joined.
func (j *Join) beside(s shape.Shape) bool {
	after := j.dim
	if !j.stack {
		after++
	}
	return s[:j.dim].Equal(j.shape[:j.dim]) && s[after:j.Rank()].Equal(j.shape[j.dim+1:])
}

func (j *Join) checkRank(s shape.Shape) error {
	if len(s) < j.Rank() {
		return fmt.Errorf("%w: got %v, want a shape with at least %d dims", shape.ErrShape, s, j.Rank())
	}
	return nil
}

// Stack plans to stack n values of these shapes along a new dim. It returns [shape.ErrShape] if
// there is no value or their shapes differ, and [shape.ErrDim] if the result has no such dim.
func Stack(n int, shapeOf func(i int) shape.Shape, dim int) (*Join, error) {
	if n == 0 {
		return nil, fmt.Errorf("%w: got nothing to stack, want at least one value", shape.ErrShape)
	}
	first := shapeOf(0)
	at, err := newDim(first, dim)
	if err != nil {
		return nil, err
	}
	for i := range n {
		if err := shapeOf(i).CheckEqual(first); err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
	}
	j := &Join{stack: true, dim: at}
	j.shape = append(append(append(j.few[:0], first[:at]...), n), first[at:]...)
	return j, j.shape.Check()
}

// Cat plans to concatenate n values of these shapes along an existing dim. It returns
// [shape.ErrShape] if there is no value or their shapes differ in other dims, and [shape.ErrDim] if
// they have no such dim.
func Cat(n int, shapeOf func(i int) shape.Shape, dim int) (*Join, error) {
	if n == 0 {
		return nil, fmt.Errorf("%w: got nothing to cat, want at least one value", shape.ErrShape)
	}
	first, j := shapeOf(0), &Join{}
	to := shape.Shape(append(j.few[:0], first...))
	at, err := to.Dim(dim)
	if err != nil {
		return nil, err
	}
	for i := 1; i < n; i++ {
		s := shapeOf(i)
		if len(s) != len(to) || !s[:at].Equal(to[:at]) || !s[at+1:].Equal(to[at+1:]) {
			return nil, fmt.Errorf("value %d: %w: got %v, want the sizes of %v in all dims but dim %d", i, shape.ErrShape, s, first, at)
		}
		if to[at] += s[at]; to[at] < 0 {
			return nil, fmt.Errorf("value %d: %w: dim %d overflows", i, shape.ErrShape, at)
		}
	}
	j.dim, j.shape = at, to
	return j, to.Check()
}
