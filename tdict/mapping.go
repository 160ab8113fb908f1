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

// A mapping is one call of [MapChunks].
type mapping struct {
	*chunks
	opt     MapChunksOptions
	workers int
	rowLock sync.Locker // held while rows are read or written, if any are more than memory

	mu      sync.Mutex // guards the fields below; one call of Progress at a time
	done    int        // the number of rows done
	results []result
	checked int         // results before this one are present and can be joined
	first   *TensorDict // the first result, without elements
}

// A result is the result of the function for a chunk.
type result struct {
	td      *TensorDict // may be nil
	present bool
}

// noLock is a lock that does nothing.
type noLock struct{}

func (noLock) Lock()   {}
func (noLock) Unlock() {}

// do processes chunk i.
func (m *mapping) do(ctx context.Context, i int) error {
	about := i
	err := workers.Call(func() error {
		chunk, err := m.read(i)
		if err != nil {
			return err
		}
		out, err := m.fn(ctx, chunk)
		switch {
		case err != nil:
		case m.opt.Into != nil:
			err = failed("into", m.write(i, out))
		default:
			about, err = m.keep(i, out)
		}
		if err != nil || m.opt.Progress == nil {
			return err
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		from, to := m.bounds(i)
		m.done += to - from
		m.opt.Progress(m.done, m.rows)
		return nil
	})
	return m.failed(about, err)
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
	m.rowLock.Lock()
	defer m.rowLock.Unlock()
	var tr tensor.Transfer
	if m.workers > 1 {
		tr.Workers = 1
	}
	if err := m.opt.Into.Ops().AddWrite(&tr, out, plan.NewPass(p)); err != nil {
		return err
	}
	return tr.Run()
}

// keep stores the result of chunk i, and checks the results that have no gap before them. If one
// cannot be joined to the first, it returns the number of its chunk with the error.
func (m *mapping) keep(i int, out *TensorDict) (about int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results[i] = result{out, true}
	for ; m.checked < len(m.results) && m.results[m.checked].present; m.checked++ {
		if err := m.checkJoinsFirst(m.results[m.checked].td); err != nil {
			return m.checked, err
		}
	}
	return i, nil
}

// checkJoinsFirst returns an error unless a result can be joined to the first one.
func (m *mapping) checkJoinsFirst(out *TensorDict) error {
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
		return fmt.Errorf("joining this result (value 1) to the first (value 0): %w", err)
	}
	return nil
}

// result returns the joined results, or opt.Into.
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
		return nil, failed("map chunks", err)
	}
	return out, nil
}

// read returns the rows of chunk i.
func (m *mapping) read(i int) (*TensorDict, error) {
	m.rowLock.Lock()
	defer m.rowLock.Unlock()
	return m.td.Index(m.index(i)...)
}
