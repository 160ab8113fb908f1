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

// An applyTask makes one value of the result: value, or what fn returns for the elements of value.
// All are planned before fn is called, so that an error of the plan calls nothing. Their order is
// the order of the keys.
type applyTask struct {
	key   nestedkey.Key
	value Value
	first *tensor.Tensor   // the elements of value; nil if fn is not called
	xs    []*tensor.Tensor // fn's arguments: first, and others; fn may change the slice
	made  *tensor.Tensor   // what fn returned
	joins bool             // value is a Stacked, whose members earlier tasks make

	out    *TensorDict // gets the entry name, unless stack gets the member
	name   nestedkey.Key
	stack  *Stacked
	member int
}

// plan adds a task for each entry of td, in order. path is the key of td, followed by a slash
// unless it is empty. fn is called for all tensors if all is true, otherwise for the tensors under
// keys.
func (a *applier) plan(td, out *TensorDict, path string, all bool, keys []nestedkey.Key) error {
	chosen := choose(keys)
	for name, v := range td.entries.all() {
		whole, inner := chosen.of(name)
		task := applyTask{out: out, name: name, key: nestedkey.Key(path) + name, value: v}
		var err error
		if d, ok := v.(*TensorDict); ok {
			made := a.empty(d)
			task.value = made
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
	if s, ok := task.value.(*Stacked); ok && chosen && elements(s) != nil {
		return a.members(task, s)
	}
	if e := elements(task.value); e != nil && chosen {
		var err error
		if task.first, err = e.tensor(&a.shared); err != nil {
			return err
		}
		return a.call(task)
	}
	a.keep(task)
	switch got := task.value; {
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
		each.value, each.stack, each.member = m.value, made, i
		if err := a.leaf(each, nil, true); err != nil {
			return fmt.Errorf("member %d: %w", i, err)
		}
	}
	task.value, task.joins = made, true
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

// keep adds a task without a call. In place there is nothing to do.
func (a *applier) keep(task applyTask) {
	if !a.opt.InPlace {
		a.tasks = append(a.tasks, task)
	}
}

// call adds a task that calls fn with the tensors that the dictionaries have under task.key.
func (a *applier) call(task applyTask) error {
	task.xs = append(make([]*tensor.Tensor, 0, 1+len(a.others)), task.first)
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
			var err error
			if task.made, err = fn(task.key, task.xs); err != nil {
				return err
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
		t, err := &a.tasks[i], error(nil)
		if a.opt.InPlace {
			err = t.write(&tr, &a.shared)
		} else {
			err = t.store(&a.shared)
		}
		if err != nil {
			return nil, failedKey("apply", t.key, err)
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

// write adds to tr: value = what fn returned for its elements.
func (t *applyTask) write(tr *tensor.Transfer, p *plan.Pass) error {
	if t.made == nil || t.made == t.first {
		return nil
	}
	if err := checkValue(t.made); err != nil {
		return err
	}
	return elements(t.value).set(tr, p, t.first, t.made)
}

// store stores the result, unless there is none.
func (t *applyTask) store(p *plan.Pass) error {
	v, err := t.result(p)
	switch {
	case err != nil:
		return err
	case t.stack != nil:
		t.stack.members[t.member].value = v
		return nil
	case v == nil:
		return nil
	}
	if err := v.Shape().CheckPrefix(t.out.batch); err != nil {
		return err
	}
	t.out.entries.put(t.name, v)
	return nil
}

// result returns the value that t makes, or nil if fn returned none.
func (t *applyTask) result(p *plan.Pass) (Value, error) {
	switch s, _ := t.value.(*Stacked); {
	case t.joins && s.missing() == len(s.members), t.first != nil && t.made == nil:
		return nil, nil
	case t.joins:
		return asValue(newStacked(s.dim, s.members))
	case t.first == nil:
		return t.value, nil
	}
	if err := checkValue(t.made); err != nil {
		return nil, err
	}
	return elements(t.value).with(p, t.made)
}
