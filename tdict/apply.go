package tdict

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Apply returns the dictionary of what fn makes of each tensor among the leaves, under the same
// keys, one after the other. A tensor for which fn returns nil is left out; the dictionary around
// it stays. Leaves of other kinds pass through. The result is not locked, and shares memory with td
// only where fn does. Apply returns fn's first error, with the key, and shapeops.ErrShape if a
// result does not begin with the batch shape.
func (td *TensorDict) Apply(fn func(key nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error)) (*TensorDict, error) {
	each := func(key nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error) { return fn(key, xs[0]) }
	return Apply(context.Background(), []*TensorDict{td}, each, ApplyOptions{Workers: 1})
}

// A LeafFunc makes a tensor of those that several dictionaries have under a key, or nil, which
// leaves the key out. It must not keep xs.
type LeafFunc func(key nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error)

// ApplyOptions say how [Apply] runs. The zero value is the default.
type ApplyOptions struct {
	// Workers is how many tensors are worked on at the same time; 0 means GOMAXPROCS. With 1, they
	// are worked on in the order of the keys.
	Workers int
	// Batch is the batch shape of the result, at every level; nil means that of the first
	// dictionary.
	Batch shapeops.Shape
	// Progress, if not nil, is called after each tensor with the tensors done and their number, by
	// one goroutine at a time.
	Progress func(done, total int)
}

// Apply returns the dictionary of what fn makes of the tensors that several dictionaries have under
// each key of the first. Keys that only the others have are ignored. Leaves of the first of other
// kinds pass through. fn must be safe for concurrent use unless opt.Workers is 1.
//
// Apply stops at the first error: that of ctx, or one with its key: fn's, [ErrMissing] if a
// dictionary lacks a key, [ErrKind] if it has no tensor there, or if opt.Batch differs from the
// batch shape of a leaf that would pass through, [ErrNotDict] if it has a leaf on the way, or
// shapeops.ErrShape if a result does not begin with the batch shape. A panic of fn is an error too.
func Apply(ctx context.Context, tds []*TensorDict, fn LeafFunc, opt ApplyOptions) (*TensorDict, error) {
	if len(tds) == 0 || slices.Contains(tds, nil) {
		return nil, failed("apply", fmt.Errorf("%w: got no dictionary", ErrKind))
	}
	if err := opt.Batch.Check(); err != nil {
		return nil, failed("apply", err)
	}
	a := applier{opt: opt, others: tds[1:]}
	out := a.empty(tds[0])
	if err := a.plan(tds[0], out, ""); err != nil {
		return nil, err
	}
	if err := a.run(ctx, fn); err != nil {
		return nil, failed("apply", err)
	}
	for _, task := range a.tasks {
		if err := task.finish(); err != nil {
			return nil, &KeyError{"apply", task.key, err}
		}
	}
	return out, nil
}

// An applier holds one call of fn for each tensor.
type applier struct {
	opt    ApplyOptions
	others []*TensorDict
	tasks  []applyTask // an entry of the result each
	calls  []int       // the tasks whose result fn makes
}

// An applyTask is an entry of the result: what fn returns for xs, or a value that is known.
type applyTask struct {
	out    *TensorDict // where the result goes
	name   nestedkey.Key
	key    nestedkey.Key // in full
	xs     []*tensor.Tensor
	result Value
}

// finish puts the result where it goes, if it fits.
func (t *applyTask) finish() error {
	if t.result == nil {
		return nil
	}
	if err := checkValue(t.result); err != nil {
		return err
	}
	if err := t.result.Shape().CheckPrefix(t.out.batch); err != nil {
		return err
	}
	t.out.entries.put(t.name, t.result)
	return nil
}

// plan adds a task for each entry of td, in order. path is the key of td, with a slash after it
// unless it is empty.
func (a *applier) plan(td, out *TensorDict, path string) error {
	for name, v := range td.entries.all() {
		task := applyTask{out: out, name: name, key: nestedkey.Key(path) + name}
		d, isDict := asDict(v)
		t, isTensor := v.(*tensor.Tensor)
		switch {
		case isDict:
			inner := a.empty(d)
			task.result = inner
			a.tasks = append(a.tasks, task)
			if err := a.plan(d, inner, string(task.key)+"/"); err != nil {
				return err
			}
			continue
		case isTensor:
			if err := a.gather(&task, t); err != nil {
				return err
			}
			a.calls = append(a.calls, len(a.tasks))
		case !out.batch.Equal(td.batch):
			err := fmt.Errorf("%w: got %s, which cannot change its batch shape", ErrKind, describe(v))
			return &KeyError{"apply", task.key, err}
		default:
			task.result = v
		}
		a.tasks = append(a.tasks, task)
	}
	return nil
}

// empty returns an empty dictionary in the place of td.
func (a *applier) empty(td *TensorDict) *TensorDict {
	if a.opt.Batch != nil {
		return New(a.opt.Batch...)
	}
	return td.emptied()
}

// gather sets the task's xs to first and the tensors that the other dictionaries have under its
// key.
func (a *applier) gather(task *applyTask, first *tensor.Tensor) error {
	task.xs = make([]*tensor.Tensor, 1, 1+len(a.others))
	task.xs[0] = first
	for i, other := range a.others {
		t, err := other.Tensor(task.key)
		if inner, ok := err.(*KeyError); ok {
			return &KeyError{"apply", task.key, fmt.Errorf("dictionary %d: %w", i+1, inner.Err)}
		}
		task.xs = append(task.xs, t)
	}
	return nil
}

// run calls fn for each task that it is to make, until one fails or ctx ends.
func (a *applier) run(ctx context.Context, fn LeafFunc) error {
	var done int
	var mu sync.Mutex // guards done, orders Progress
	err := workers.Do(ctx, len(a.calls), a.opt.Workers, func(i int) error {
		task := &a.tasks[a.calls[i]]
		t, err := fn(task.key, task.xs)
		if err != nil {
			return &KeyError{"apply", task.key, err}
		}
		if t != nil {
			task.result = t
		}
		if a.opt.Progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done++
			a.opt.Progress(done, len(a.calls))
		}
		return nil
	})
	if failed, ok := errors.AsType[*workers.PanicError](err); ok {
		return &KeyError{"apply", a.tasks[a.calls[failed.Item]].key, err}
	}
	return err
}
