package tdict

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// ApplyOptions say how [Apply] runs, and what becomes of what fn returns. The zero value is the
// default.
type ApplyOptions struct {
	// Keys, if not nil, are those of the leaves that fn is called for, where a key of a dictionary
	// stands for all tensors in it. Other leaves are kept as they are.
	Keys []nestedkey.Key
	// InPlace writes what fn returns to the leaves of the first dictionary, which is the result,
	// after the last call: to all of them or none. Each must have its leaf's shape and dtype. Where
	// fn returns nil, or the leaf, the leaf stays as it is. Structure stays too, so the dictionary
	// may be locked. Batch must be nil.
	InPlace bool

	// Default, if not nil, stands for a tensor that a dictionary other than the first lacks: a
	// *tensor.Tensor as it is, or a number or bool, which tensor.ScalarOf makes the elements of a
	// tensor like the first dictionary's. By default what is missing is an error.
	Default any
	// AllowMissing hands fn nil in the place of such a tensor, unless there is a Default.
	AllowMissing bool

	// Batch is the batch shape of the result, at every level; nil means that of the first
	// dictionary.
	Batch shapeops.Shape
	// FilterEmpty leaves dictionaries without a leaf, at any depth, out of the result: those that
	// fn left none in, and those that had none before. In place all stay.
	FilterEmpty bool

	// Workers is how many tensors are worked on at the same time; 0 means GOMAXPROCS. With 1, they
	// are worked on in the order of the keys.
	Workers int
	// Progress, if not nil, is called after each tensor with the tensors done and their number, by
	// one goroutine at a time.
	Progress func(done, total int)
}

// check returns an error unless the options go together and td has the keys.
func (opt *ApplyOptions) check(td *TensorDict) error {
	if err := opt.Batch.Check(); err != nil {
		return err
	}
	if opt.InPlace && opt.Batch != nil {
		return fmt.Errorf("%w: got batch shape %v for a result in place, want nil", shapeops.ErrShape, opt.Batch)
	}
	for _, key := range opt.Keys {
		if err := td.checkTensors(key); err != nil {
			return &KeyError{"apply", key, err}
		}
	}
	return nil
}

// checkTensors returns ErrKind unless there is a tensor or a dictionary under a key.
func (td *TensorDict) checkTensors(key nestedkey.Key) error {
	_, _, v, err := td.find(key)
	if err != nil {
		return err
	}
	_, isDict := asDict(v)
	if isDict || opsOf(v).elementwise(v) != nil {
		return nil
	}
	return fmt.Errorf("%w: got %s, want a tensor or a dictionary", ErrKind, describe(v))
}

// of returns what fn is given of another dictionary beside the first one's leaf.
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
	if k != opsOf(task.leaf) {
		return nil, fmt.Errorf("%w: got %s, want %T", ErrKind, describe(v), task.leaf)
	}
	if err := k.elementwise(task.leaf).checkOperand(v); err != nil {
		return nil, err
	}
	return k.elementwise(v).tensor(p)
}

// memberOf returns what of v stands beside the task's leaf: the row beside a member.
func (t *applyTask) memberOf(v Value) (Value, error) {
	s, ok := asStacked(v)
	switch {
	case t.stack == nil:
		return denseOf(v)
	case !ok || s.dim != t.stack.dim:
		if dim := t.stack.dim; dim >= len(v.Shape()) || v.Shape()[dim] != len(t.stack.members) {
			return nil, fmt.Errorf("%w: got %s, want it beside %s along dim %d", shapeops.ErrShape, describe(v), t.stack.Text(), dim)
		}
		row, err := rowOf(v, t.stack.dim, t.member)
		if err != nil {
			return nil, err
		}
		return denseOf(row)
	case len(s.members) != len(t.stack.members):
		return nil, fmt.Errorf("%w: got %s, want %s", shapeops.ErrShape, s.Text(), t.stack.Text())
	}
	return s.Member(t.member)
}

// standIn returns what stands for a tensor that is missing beside the first one.
func (opt *ApplyOptions) standIn(first *tensor.Tensor) (*tensor.Tensor, error) {
	if t, ok := asTensor(opt.Default); ok {
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
