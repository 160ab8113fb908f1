package tdict

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A mapping is one call of [Map].
type mapping struct {
	*chunks
	opt     MapOptions
	workers int
	alone   sync.Locker // held while rows of values that are not memory are read or written

	mu      sync.Mutex // guards the fields below, orders Progress
	done    int        // rows
	results []result
	checked int         // the results before it are there, and go together
	first   *TensorDict // of these, without elements
}

// A result is what the function made of a chunk.
type result struct {
	td    *TensorDict // or nil
	there bool
}

func newMapping(c *chunks, opt MapOptions) *mapping {
	m := &mapping{chunks: c, opt: opt, workers: workers.Count(opt.Workers, c.count), alone: nobody{}}
	if opt.Into == nil {
		m.results = make([]result, c.count)
	} else if opt.Into.hasData() {
		m.alone = new(sync.Mutex)
	}
	return m
}

// nobody is a lock for what nobody shares.
type nobody struct{}

func (nobody) Lock()   {}
func (nobody) Unlock() {}

// hasData reports whether td has a leaf whose rows are more than memory, so that several goroutines
// must not write them.
func (td *TensorDict) hasData() bool {
	for _, leaf := range td.Leaves() {
		k := opsOf(leaf)
		if e := k.elementwise(leaf); !k.passes(leaf) && (e == nil || e.byRows()) {
			return true
		}
	}
	return false
}

// do deals with chunk i.
func (m *mapping) do(ctx context.Context, i int) error {
	about := i
	err := workers.Call(func() error {
		out, err := m.call(ctx, i)
		switch {
		case err != nil:
		case m.opt.Into != nil:
			err = failed("into", m.write(i, out))
		default:
			about, err = m.keep(i, out)
		}
		if err == nil {
			m.tell(i)
		}
		return err
	})
	return m.failed(about, err)
}

// call returns what the function makes of chunk i.
func (m *mapping) call(ctx context.Context, i int) (*TensorDict, error) {
	chunk, err := m.read(i)
	if err != nil {
		return nil, err
	}
	return m.fn(ctx, chunk)
}

// read returns chunk i, which nobody writes meanwhile.
func (m *mapping) read(i int) (*TensorDict, error) {
	m.alone.Lock()
	defer m.alone.Unlock()
	return m.chunk(i)
}

// write writes the result of chunk i to its rows of the destination.
func (m *mapping) write(i int, out *TensorDict) error {
	if out == nil {
		return nil
	}
	p, err := plan.Index(m.opt.Into.batch, m.index(i)...)
	if err == nil {
		err = out.batch.CheckEqual(p.Shape())
	}
	if err != nil {
		return err
	}
	m.alone.Lock()
	defer m.alone.Unlock()
	var tr tensor.Transfer
	if m.workers > 1 {
		tr.Workers = 1
	}
	if err := m.opt.Into.Ops().AddWrite(&tr, out, plan.NewPass(p)); err != nil {
		return err
	}
	return tr.Run()
}

// keep keeps the result of chunk i, and checks those of which all before are there. If one does not
// go with the first, it returns the number of its chunk.
func (m *mapping) keep(i int, out *TensorDict) (about int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results[i] = result{out, true}
	for ; m.checked < len(m.results) && m.results[m.checked].there; m.checked++ {
		if err := m.goesWithFirst(m.results[m.checked].td); err != nil {
			return m.checked, err
		}
	}
	return i, nil
}

// goesWithFirst returns an error unless a result can be joined to the first one.
func (m *mapping) goesWithFirst(out *TensorDict) error {
	if out == nil {
		return nil
	}
	shape, err := out.ToMeta()
	if err != nil {
		return err
	}
	if m.first == nil {
		m.first = shape
		_, err = out.batch.Dim(m.dim)
		return err
	}
	if _, err = shapeops.Cat([]*TensorDict{m.first, shape}, m.dim); err != nil {
		return fmt.Errorf("beside the first result: %w", err)
	}
	return nil
}

// tell reports that chunk i is done.
func (m *mapping) tell(i int) {
	if m.opt.Progress == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	from, to := m.bounds(i)
	m.done += to - from
	m.opt.Progress(m.done, m.rows)
}

// result returns the dictionary of all results.
func (m *mapping) result() (*TensorDict, error) {
	if m.opt.Into != nil {
		return m.opt.Into, nil
	}
	var all []*TensorDict
	for _, r := range m.results {
		if r.td != nil {
			all = append(all, r.td)
		}
	}
	if len(all) == 0 {
		out := m.td.emptied()
		out.batch[m.dim] = 0
		return out, nil
	}
	out, err := shapeops.Cat(all, m.dim)
	if err != nil {
		return nil, failed("map", err)
	}
	return out, nil
}
