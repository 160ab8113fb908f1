package tdict

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// An applier is one call of Apply: a task for each entry of the result.
type applier struct {
	opt    ApplyOptions
	others []*TensorDict
	tasks  []applyTask // one for each entry of the result
	calls  []int       // the indexes of the tasks that call fn
	probe  tensor.Transfer
	shared plan.Pass // for layouts that ragged leaves share
}

// An applyTask is an entry of the result: either fn(key, xs), or a value that is known already.
type applyTask struct {
	out    *TensorDict // receives the result
	name   nestedkey.Key
	key    nestedkey.Key  // the full key
	leaf   Value          // the leaf of the first dictionary; nil if fn is not called
	first  *tensor.Tensor // the elements of leaf
	xs     []*tensor.Tensor
	result Value

	stack  *Stacked // the result is its member number member; or nil
	member int
	whole  bool // the result is a Stacked; earlier tasks make its members
}

// plan adds a task for each entry of td, in order. path is the key of td, followed by a slash
// unless it is empty. fn is called for all tensors if all is true, otherwise for the tensors under
// keys.
func (a *applier) plan(td, out *TensorDict, path string, all bool, keys []nestedkey.Key) error {
	chosen := choose(keys)
	for name, v := range td.entries.all() {
		whole, inner := chosen.of(name)
		task := applyTask{out: out, name: name, key: nestedkey.Key(path) + name, result: v}
		var err error
		if d, ok := v.(*TensorDict); ok {
			made := a.empty(d)
			task.result = made
			a.keep(task)
			err = a.plan(d, made, string(task.key)+"/", all || whole && len(inner) == 0, inner)
		} else {
			err = failedKey("apply", task.key, a.leaf(task, td.batch, all || whole))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leaf adds a task for a leaf of a dictionary with the given batch shape.
func (a *applier) leaf(task applyTask, batch shapeops.Shape, chosen bool) error {
	if s, ok := task.result.(*Stacked); ok && chosen && elements(s) != nil {
		return a.members(task, s)
	}
	if e := elements(task.result); e != nil && chosen {
		t, err := e.tensor(&a.shared)
		if err != nil {
			return err
		}
		task.leaf, task.first, task.result = task.result, t, nil
		return a.call(task)
	}
	a.keep(task)
	switch got := task.result; {
	case elements(got) != nil:
		return got.Shape().CheckPrefix(task.out.batch)
	case !task.out.batch.Equal(batch):
		return fmt.Errorf("%w: got %s, which cannot change its batch shape", ErrKind, describe(got))
	}
	return nil
}

// members adds a task for each member of s, and a task for the Stacked of the results.
func (a *applier) members(task applyTask, s *Stacked) error {
	made := &Stacked{s.dim, slices.Clone(s.members), s.shape}
	for i, m := range s.members {
		if m.value == nil {
			continue
		}
		each := task
		each.result, each.stack, each.member = m.value, made, i
		if err := a.leaf(each, nil, true); err != nil {
			return fmt.Errorf("member %d: %w", i, err)
		}
	}
	task.result, task.whole = made, true
	a.keep(task)
	return nil
}

// empty returns an empty dictionary for the results of td's entries. In place, it returns td.
func (a *applier) empty(td *TensorDict) *TensorDict {
	switch {
	case a.opt.InPlace:
		return td
	case a.opt.Batch != nil:
		return &TensorDict{batch: a.opt.Batch.Clone(), header: td.named(nil)}
	}
	return td.emptied()
}

// keep adds a task whose result is known. In place there is nothing to do.
func (a *applier) keep(task applyTask) {
	if !a.opt.InPlace {
		a.tasks = append(a.tasks, task)
	}
}

// call adds a task that calls fn with the tensors that the dictionaries have under task.key.
func (a *applier) call(task applyTask) error {
	task.xs = make([]*tensor.Tensor, 1, 1+len(a.others))
	task.xs[0] = task.first
	for i, other := range a.others {
		t, err := a.opt.of(other, &task, &a.shared)
		if err != nil {
			return fmt.Errorf("dictionary %d: %w", i+1, err)
		}
		task.xs = append(task.xs, t)
	}
	a.calls = append(a.calls, len(a.tasks))
	a.tasks = append(a.tasks, task)
	if !a.opt.InPlace {
		return nil
	}
	defer a.probe.Reset()
	return a.probe.Copy(task.first, task.first) // an error if it cannot be written
}

// run calls fn for each task in a.calls, until a call fails or ctx ends.
func (a *applier) run(ctx context.Context, fn LeafFunc) error {
	var done int
	var mu sync.Mutex // guards done; one call of Progress at a time
	return workers.Do(ctx, len(a.calls), a.opt.Workers, func(i int) error {
		task := &a.tasks[a.calls[i]]
		err := workers.Call(func() error {
			t, err := fn(task.key, task.xs)
			if err != nil {
				return err
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
		return failedKey("apply", task.key, err)
	})
}

// finish stores all results, and returns the dictionary that holds them.
func (a *applier) finish(out *TensorDict) (*TensorDict, error) {
	var tr tensor.Transfer
	tr.Workers = a.opt.Workers
	for i := range a.tasks {
		if err := a.tasks[i].finish(&tr, &a.shared, a.opt.InPlace); err != nil {
			return nil, failedKey("apply", a.tasks[i].key, err)
		}
	}
	if err := tr.Run(); err != nil {
		return nil, failed("apply", err)
	}
	if a.opt.FilterEmpty && !a.opt.InPlace {
		return out.FilterEmpty(), nil
	}
	return out, nil
}

// finish checks the result and stores it in t.out. In place, it adds the copy to tr instead.
func (t *applyTask) finish(tr *tensor.Transfer, p *plan.Pass, inPlace bool) error {
	if t.result == nil && t.stack != nil && !inPlace {
		t.stack.members[t.member].value = nil
	}
	if t.result == nil {
		return nil
	}
	if err := checkValue(t.result); err != nil {
		return err
	}
	made, _ := t.result.(*tensor.Tensor)
	switch {
	case inPlace && (t.leaf == nil || made == t.first):
		return nil
	case inPlace:
		return elements(t.leaf).set(tr, p, t.first, made)
	case t.leaf != nil:
		v, err := elements(t.leaf).with(p, made)
		if err != nil {
			return err
		}
		t.result = v
	}
	if s, ok := t.result.(*Stacked); ok && t.whole {
		var err error
		if t.result = nil; s.missing() < len(s.members) {
			t.result, err = asValue(newStacked(s.dim, s.members))
		}
		if err != nil {
			return err
		}
	}
	if t.stack != nil {
		t.stack.members[t.member].value = t.result
		return nil
	}
	if t.result == nil {
		return nil
	}
	if err := t.result.Shape().CheckPrefix(t.out.batch); err != nil {
		return err
	}
	t.out.entries.put(t.name, t.result)
	return nil
}
