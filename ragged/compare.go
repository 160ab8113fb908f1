package ragged

import (
	"fmt"
	"sort"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Equal reports whether t and x have the same dtype, batch shape, depth, lengths, features and
// values; their arrangement in memory does not matter. As usual for floating point, NaN differs
// from itself and 0 equals -0. Equal is also false if values cannot be read, for example because a
// mapped file was closed; [Tensor.Diff] returns that as an error.
func (t *Tensor) Equal(x *Tensor) bool {
	text, err := t.Diff(x)
	return text == "" && err == nil
}

// Diff describes the first difference between t and x, by the rules of [Tensor.Equal], with the
// level and row, or the position of the element. It returns "" if they are equal. It returns an
// error if values cannot be read, and shapeops.ErrKind if a tensor is nil.
func (t *Tensor) Diff(x *Tensor) (string, error) { return t.DiffWithin(x, tensor.Tolerance{}) }

// DiffWithin is [Tensor.Diff], except that it ignores two values whose difference is within tol.
func (t *Tensor) DiffWithin(x *Tensor, tol tensor.Tolerance) (string, error) {
	if !t.made() || !x.made() {
		return "", errNil
	}
	same := t.Depth() == x.Depth() && t.Shape().Equal(x.Shape()) && t.Features().Equal(x.Features())
	if !same || t.DType() != x.DType() {
		return fmt.Sprintf("%s, other %s", t.Text(), x.Text()), nil
	}
	if text := t.layout.differs(x.layout); text != "" {
		return text, nil
	}
	a, err := t.Values()
	if err != nil {
		return "", err
	}
	b, err := x.Values()
	if err != nil {
		return "", err
	}
	text, err := a.Diff(b)
	if text == "" || err != nil {
		return "", err
	}
	first, _, err := a.Ops().Differing(b, tol, 1)
	if len(first) == 0 || err != nil {
		return "", err
	}
	d := first[0]
	at := t.position(d.Position)
	if d.A == "NaN" && d.B == "NaN" {
		return fmt.Sprintf("element %v is NaN, which differs from itself", at), nil
	}
	return fmt.Sprintf("element %v is %s, other %s", at, d.A, d.B), nil
}

// position converts the position [V F...] of an element in t's values to its position in t: one
// number for each dim and level.
func (t *Tensor) position(value []int) []int {
	row, pos := value[0], value[1:]
	for l := t.layout.Compact(); l.depth > 0; l = l.outer {
		outer := sort.Search(l.outer.numbered(), func(i int) bool { return int(l.offsets[i+1]) > row })
		pos = append([]int{row - int(l.offsets[outer])}, pos...)
		row = outer
	}
	return append(t.Shape().Position(row), pos...)
}

// Differing is tensor.Tensor.Differing of the values of all rows. A position has one number for
// each dim and each level. It returns [ErrLengths] or shapeops.ErrShape if the tensors differ in
// more than values, tensor.ErrDType if dtypes differ, and shapeops.ErrKind if x is nil.
func (t ops) Differing(x *Tensor, tol tensor.Tolerance, n int) (first []tensor.ElementDiff, count int, err error) {
	if !t.made() || !x.made() {
		return nil, 0, errNil
	}
	if t.DType() != x.DType() {
		return nil, 0, fmt.Errorf("%w: got %v, want %v", tensor.ErrDType, x.DType(), t.DType())
	}
	if !t.Shape().Equal(x.Shape()) || t.Depth() != x.Depth() || !t.Features().Equal(x.Features()) {
		return nil, 0, fmt.Errorf("%w: got %s, want %s", shapeops.ErrShape, x.shapeText(), t.shapeText())
	}
	if err := t.layout.CheckEqual(x.layout); err != nil {
		return nil, 0, err
	}
	a, err := t.Values()
	if err != nil {
		return nil, 0, err
	}
	b, err := x.Values()
	if err != nil {
		return nil, 0, err
	}
	first, count, err = a.Ops().Differing(b, tol, n)
	for i, d := range first {
		first[i].Position = t.position(d.Position)
	}
	return first, count, err
}
