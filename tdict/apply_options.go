package tdict

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// ApplyOptions are the options of [Apply]. The zero value is the default.
type ApplyOptions struct {
	// Keys, if not nil, are the keys of the leaves that fn is called for, with the rules of
	// [TensorDict.Select]. The key of a dictionary means all tensors in it. The key of a [Stacked]
	// of tensors means each of its members. Other leaves stay as they are.
	Keys []nestedkey.Key
	// InPlace writes the results of fn to the leaves of the first dictionary, which Apply returns.
	// It writes after the last call, to all leaves or, on an error, to none. A result must have the
	// shape and dtype of its leaf. If fn returns nil, or the leaf itself, the leaf stays as it is.
	// The dictionary may be locked, since its structure stays the same. Batch must be nil.
	InPlace bool

	// Default, if not nil, replaces a tensor that a dictionary other than the first lacks. A
	// *tensor.Tensor is passed to fn unchanged. For a number or a bool, fn gets a tensor with the
	// dtype and shape of the first dictionary's tensor, filled with tensor.ScalarOf(dtype,
	// Default). Without a Default, a missing tensor is an error.
	Default any
	// AllowMissing passes nil to fn for a tensor that is missing, unless there is a Default.
	AllowMissing bool

	// Batch is the batch shape of the result, at every level. Nil means the batch shape of the
	// first dictionary.
	Batch shapeops.Shape
	// FilterEmpty leaves out of the result all dictionaries that have no leaf at any depth, whether
	// or not they had one before. In place, all dictionaries stay.
	FilterEmpty bool

	// Workers is the number of tensors that are worked on at the same time; 0 means GOMAXPROCS.
	// With 1, they are worked on in the order of the keys.
	Workers int
	// Progress, if not nil, is called after each tensor with the number of tensors done and the
	// number of all. Calls do not overlap.
	Progress func(done, total int)
}

// check returns an error if two options exclude each other, or if td lacks one of opt.Keys.
func (opt *ApplyOptions) check(td *TensorDict) error {
	if err := opt.Batch.Check(); err != nil {
		return err
	}
	if opt.InPlace && opt.Batch != nil {
		return fmt.Errorf("%w: got ApplyOptions.Batch %v with InPlace, want nil", shapeops.ErrShape, opt.Batch)
	}
	for _, key := range opt.Keys {
		_, _, v, err := td.find(key)
		if _, isDict := v.(*TensorDict); err == nil && !isDict && elements(v) == nil {
			err = fmt.Errorf("%w: got %s, want a tensor or a dictionary", ErrKind, describe(v))
		}
		if err != nil {
			return failedKey("apply", key, err)
		}
	}
	return nil
}

// of returns the tensor of another dictionary that fn gets with the task's value.
func (opt *ApplyOptions) of(other *TensorDict, task *applyTask, p *plan.Pass) (*tensor.Tensor, error) {
	_, _, v, err := other.find(task.key)
	if errors.Is(err, ErrMissing) && (opt.Default != nil || opt.AllowMissing) {
		return opt.standIn(task.first)
	}
	if err != nil {
		return nil, err
	}
	if v, err = task.memberOf(v); err != nil {
		return nil, err
	}
	k := opsOf(v)
	if k != opsOf(task.value) {
		return nil, fmt.Errorf("%w: got %s, want %T", ErrKind, describe(v), task.value)
	}
	if err := k.elementwise(task.value).checkOperand(v); err != nil {
		return nil, err
	}
	return k.elementwise(v).tensor(p)
}

// memberOf returns the part of v that belongs to the task's value: a member or a row if that is a
// member of a Stacked, otherwise all of v.
func (t *applyTask) memberOf(v Value) (Value, error) {
	s, ok := v.(*Stacked)
	switch {
	case t.stack == nil:
		return denseOf(v)
	case !ok || s.dim != t.stack.dim:
		if dim := t.stack.dim; dim >= len(v.Shape()) || v.Shape()[dim] != len(t.stack.members) {
			return nil, fmt.Errorf("%w: got %s, want it beside %s along dim %d", shapeops.ErrShape, describe(v), t.stack.Text(), dim)
		}
		row, err := rowOf(v, t.stack.dim, t.member)
		if err != nil || row == nil { // nil: v is a dictionary of stacks without that member
			return v, err
		}
		return denseOf(row)
	case len(s.members) != len(t.stack.members):
		return nil, fmt.Errorf("%w: got %s, want %s", shapeops.ErrShape, s.Text(), t.stack.Text())
	}
	return s.Member(t.member)
}

// standIn returns the replacement of a missing tensor, given the first dictionary's tensor.
func (opt *ApplyOptions) standIn(first *tensor.Tensor) (*tensor.Tensor, error) {
	if t, ok := opt.Default.(*tensor.Tensor); ok {
		return t, checkValue(t)
	}
	if opt.Default == nil {
		return nil, nil
	}
	one, err := tensor.ScalarOf(first.DType(), opt.Default)
	if err != nil {
		return nil, fmt.Errorf("default: %w", err)
	}
	return one.Expand(first.Shape()...)
}
