package shapeops

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Value is the constraint of the operations here. *tensor.Tensor, *tdict.TensorDict and
// *ragged.Tensor satisfy it, each with Ops of its type. A
// *memmap.Dataset does not, since its Ops are for a *tdict.TensorDict: pass its field TensorDict.
type Value[T any] interface {
	comparable
	Shape() Shape
	Ops() tensor.Ops[T]
}

// Stack joins xs along a new dim, which becomes dim dim of the result:
//
//	N times [A B] -> [A N B]
//
// Batch dims of dictionaries keep the names that all have; the new dim has none. The result is a
// copy. Stack returns [ErrKind] if a value is nil, [ErrShape] if xs is empty or the
// shapes differ, [ErrDim] if the result has no such dim, and errors of the values about their
// contents.
func Stack[T Value[T]](xs []T, dim int) (T, error) { return join(xs, dim, true) }

// StackInto is [Stack] into dst, which has the shape of the result. dst may share memory with the
// operands: StackInto returns tensor.ErrOverlap if more than 64 MiB would have to be copied first.
// On an error nothing has changed.
func StackInto[T Value[T]](dst T, xs []T, dim int) error { return joinInto(dst, xs, dim, true) }

// Cat joins xs along an existing dim:
//
//	[A Ni B] -> [A N1+N2+... B]
//
// The result is a copy. Cat returns [ErrKind] if a value is nil, [ErrShape] if xs is empty or other
// dims differ, [ErrDim] if the values have no such dim, and errors of the values about their
// contents.
func Cat[T Value[T]](xs []T, dim int) (T, error) { return join(xs, dim, false) }

// CatInto is [Cat] into dst, which has the shape of the result. dst may share memory with the
// operands: CatInto returns tensor.ErrOverlap if more than 64 MiB would have to be copied first. On
// an error nothing has changed.
func CatInto[T Value[T]](dst T, xs []T, dim int) error { return joinInto(dst, xs, dim, false) }

func join[T Value[T]](xs []T, dim int, stack bool) (T, error) {
	var none T
	op := joinOp(stack)
	j, err := planJoin(xs, dim, stack)
	if err != nil {
		return none, errtext.Named(op, err)
	}
	out, err := xs[0].Ops().Join(&plan.Pass{Join: j}, xs)
	return out, errtext.Named(op, err)
}

func joinInto[T Value[T]](dst T, xs []T, dim int, stack bool) error {
	var none T
	op := joinOp(stack)
	j, err := planJoin(xs, dim, stack)
	switch {
	case err != nil:
		return errtext.Named(op, err)
	case dst == none:
		return errtext.Named(op, fmt.Errorf("%w: got no destination", ErrKind))
	}
	if err := dst.Shape().CheckEqual(j.Shape()); err != nil {
		return errtext.Named(op, fmt.Errorf("destination: %w", err))
	}
	return errtext.Named(op, xs[0].Ops().JoinInto(&plan.Pass{Join: j}, dst, xs))
}

func joinOp(stack bool) string {
	if stack {
		return "stack"
	}
	return "cat"
}

func planJoin[T Value[T]](xs []T, dim int, stack bool) (*plan.Join, error) {
	if err := checkValues(xs); err != nil {
		return nil, err
	}
	shapeOf := func(i int) Shape { return xs[i].Shape() }
	if stack {
		return plan.Stack(len(xs), shapeOf, dim)
	}
	return plan.Cat(len(xs), shapeOf, dim)
}

// checkValues returns [ErrKind] if one of xs is nil.
func checkValues[T comparable](xs []T) error {
	var none T
	if i := slices.Index(xs, none); i >= 0 {
		return fmt.Errorf("value %d: %w: got nil", i, ErrKind)
	}
	return nil
}
