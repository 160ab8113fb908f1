package tdict

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Apply returns the dictionary of what fn makes of each leaf, under the same keys. A leaf for which fn returns nil is left
// out; the dictionary around it stays. The result is not locked, and shares memory with td only where fn does. Apply returns
// fn's first error, with the key, and shapeops.ErrShape if a result does not begin with the batch shape.
func (td *TensorDict) Apply(fn func(key nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error)) (*TensorDict, error) {
	each := func(key nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error) { return fn(key, xs[0]) }
	return Apply(context.Background(), each, ApplyOptions{}, td)
}

// ApplyOptions say how [Apply] runs. The zero value is the default.
type ApplyOptions struct {
	// Workers is how many leaves are worked on at the same time; 0 means 1, in the order of the keys.
	Workers int
	// Batch is the batch shape of the result, at every level; nil means that of the first dictionary.
	Batch shapeops.Shape
	// Progress, if not nil, is called after each leaf with the leaves done and their number, by one goroutine at a time.
	Progress func(done, total int)
}

// Apply returns the dictionary of what fn makes of the leaves that several dictionaries have under each key of the first.
// Keys that only the others have are ignored. fn must not keep xs, and must be safe for concurrent use if opt.Workers is more
// than 1. A key for which fn returns nil is left out.
//
// Apply stops at the first error: that of ctx, or one with its key: fn's, [ErrMissing] if a dictionary lacks a key,
// [ErrKind] if it has a dictionary there, [ErrNotDict] if it has a leaf on the way, or shapeops.ErrShape if a result does not begin with the batch shape.
func Apply(ctx context.Context, fn func(key nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error), opt ApplyOptions, tds ...*TensorDict) (*TensorDict, error) {
	if len(tds) == 0 {
		return nil, failed("apply", fmt.Errorf("%w: got no dictionary", ErrKind))
	}
	if err := opt.Batch.Check(); err != nil {
		return nil, failed("apply", err)
	}
	a := applier{opt: opt, others: tds[1:]}
	out := a.empty(tds[0])
	if err := a.plan(tds[0], out, nil); err != nil {
		return nil, err
	}
	if err := a.run(ctx, fn); err != nil {
		return nil, failed("apply", err)
	}
	for _, task := range a.tasks {
		if task.result == nil {
			continue
		}
		err := checkValue(task.result)
		if err == nil {
			err = task.result.Shape().CheckPrefix(task.out.batch)
		}
		if err != nil {
			return nil, &KeyError{"apply", task.key, err}
		}
		task.out.put(task.name, task.result)
	}
	return out, nil
}

// An applier holds one call of fn for each leaf.
type applier struct {
	opt    ApplyOptions
	others []*TensorDict
	tasks  []applyTask
	leaves int
}

// An applyTask is an entry of the result: a dictionary, or what fn will return for xs.
type applyTask struct {
	out    *TensorDict // where the result goes
	name   nestedkey.Key
	key    nestedkey.Key // in full
	xs     []*tensor.Tensor
	result Value
}

// plan adds a task for each entry of td, in order. path holds the names that lead to td.
func (a *applier) plan(td, out *TensorDict, path []nestedkey.Key) error {
	for i, name := range td.table.list() {
		task := applyTask{out: out, name: name, key: name}
		if len(path) > 0 {
			task.key = nestedkey.Join(path[0], append(path[1:], name)...)
		}
		d, isDict := asDict(td.values[i])
		if !isDict {
			if err := a.gather(&task, td.values[i]); err != nil {
				return err
			}
			a.tasks = append(a.tasks, task)
			continue
		}
		inner := a.empty(d)
		task.result = inner
		a.tasks = append(a.tasks, task)
		if err := a.plan(d, inner, append(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// empty returns an empty dictionary in the place of td.
func (a *applier) empty(td *TensorDict) *TensorDict {
	if a.opt.Batch != nil {
		return New(a.opt.Batch...)
	}
	return New(td.batch...)
}

// gather sets the task's xs to first and the tensors that the other dictionaries have under its key.
func (a *applier) gather(task *applyTask, first Value) error {
	t, ok := asTensor(first)
	if !ok {
		return &KeyError{"apply", task.key, fmt.Errorf("%w: got %s, want a tensor", ErrKind, describe(first))}
	}
	a.leaves++
	task.xs = make([]*tensor.Tensor, 1, 1+len(a.others))
	task.xs[0] = t
	for i, other := range a.others {
		t, err := other.Tensor(task.key)
		if inner, ok := err.(*KeyError); ok {
			return &KeyError{"apply", task.key, fmt.Errorf("dictionary %d: %w", i+1, inner.Err)}
		}
		task.xs = append(task.xs, t)
	}
	return nil
}

// run calls fn for each task, on as many goroutines as wanted, until one fails or ctx ends.
func (a *applier) run(ctx context.Context, fn func(nestedkey.Key, []*tensor.Tensor) (*tensor.Tensor, error)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	var done int
	var mu sync.Mutex // guards done, orders Progress
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(a.tasks) {
				return
			}
			task := &a.tasks[i]
			if task.result != nil { // a dictionary
				continue
			}
			t, err := fn(task.key, task.xs)
			if err != nil {
				stop(&KeyError{"apply", task.key, err})
				return
			}
			if t != nil {
				task.result = t
			}
			mu.Lock()
			done++
			if a.opt.Progress != nil {
				a.opt.Progress(done, a.leaves)
			}
			mu.Unlock()
		}
	}
	var wg sync.WaitGroup
	for range min(a.opt.Workers, len(a.tasks)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return context.Cause(ctx)
}
