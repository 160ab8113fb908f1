package loader

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// A maker makes the batches of a run. Its method make is safe for concurrent use.
type maker struct {
	opt    *Options
	src    Source
	slicer Slicer // src, if batches may be views; otherwise nil
	n      int    // number of rows of src
	plan   sampler.Plan
	at     cursor // where the run begins
	pool   *pool

	turns sync.Map // for Options.Into: a channel for each step, see turn
}

func newMaker(l *Loader, src Source, p *plans) *maker {
	m := &maker{opt: &l.opt, src: src, n: p.rows, plan: p.plan, at: l.cursor(), pool: &l.pool}
	if !l.opt.Own {
		m.slicer, _ = src.(Slicer)
	}
	return m
}

// number returns the number, in the epoch, of the batch of a step. Past the end of the epoch, where
// ranks are made equal, it begins again at 0.
func (m *maker) number(step int) int {
	return (m.at.batch + m.opt.Share.Rank + step*m.world()) % m.plan.Len()
}

// world returns the number of ranks.
func (m *maker) world() int { return max(1, m.opt.Share.World) }

// after returns the position of the loader after a step.
func (m *maker) after(step int) cursor {
	return cursor{m.at.seed, m.at.epoch, min(m.plan.Len(), m.at.batch+(step+1)*m.world())}
}

// make makes the batch of a step.
func (m *maker) make(ctx context.Context, step int) (*slot, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s, number := m.pool.get(), m.number(step)
	err := m.fill(ctx, s, step)
	if err == nil {
		return s, nil
	}
	defer m.pool.put(s)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, &BatchError{Epoch: m.at.epoch, Batch: number, Rows: slices.Clone(m.fetched(s)), Err: err}
}

// fill makes the batch of a step in s.
func (m *maker) fill(ctx context.Context, s *slot, step int) error {
	err := workers.Call(func() (err error) {
		room := s.rows
		s.rows = sampler.Batch{}
		s.rows = m.plan.Batch(m.number(step), room)
		if err = m.ask(ctx, s, step); err == nil {
			s.batch, err = m.fetch(ctx, s)
		}
		return err
	})
	if err == nil {
		err = m.label(s)
	}
	if err == nil {
		err = m.change(s)
	}
	if err == nil && s.into != nil {
		if err = m.place(s); err != nil {
			err = fmt.Errorf("into: %w", err)
		}
	}
	if err == nil {
		s.bytes = min(s.batch.ByteSize(), 1<<40) // expanded views may have any size
	}
	return err
}

// change collates and transforms a batch.
func (m *maker) change(s *slot) error {
	var err error
	if m.opt.Collate != nil {
		err = s.replace("collate", func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
			return m.opt.Collate(td, s.memory(m.opt.Own))
		})
	}
	if err == nil && m.opt.Transform != nil {
		draw := transform.Draw{Seed: m.at.seed, Epoch: m.at.epoch, Rows: s.rows.Rows}
		err = s.replace("transform", func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
			return m.opt.Transform.Apply(td, draw)
		})
	}
	if err != nil {
		return err
	}
	return m.checkSplits(s)
}

// checkSplits returns an error if the batch of s has splits of groups, but Collate or Transform
// changed its number of rows.
func (m *maker) checkSplits(s *slot) error {
	if s.rows.Splits == nil {
		return nil
	}
	batch := s.batch.Shape()
	u, err := tdict.Get[*tdict.Unbatched](s.batch, m.opt.SplitsKey)
	if err != nil || len(batch) == 0 {
		return nil // they were deleted
	}
	splits, err := tensor.Of[int64](u.Tensor())
	if err != nil || len(splits) == 0 || splits[len(splits)-1] == int64(batch[0]) {
		return nil // they fit, or are not ours
	}
	return &tdict.KeyError{Op: "batch", Key: m.opt.SplitsKey, Err: fmt.Errorf(
		"%w: got batch shape %v from Collate or Transform, want %d rows, where the splits end: "+
			"let it change or delete the splits too", shapeops.ErrShape, batch, splits[len(splits)-1])}
}

// fetch returns the rows of a slot, as a view of the source, in the memory that the slot was given,
// or in memory that it keeps. The caller may change the entries of the dictionary.
func (m *maker) fetch(ctx context.Context, s *slot) (*tdict.TensorDict, error) {
	rows := m.fetched(s)
	if s.rows.Run && m.slicer != nil && len(rows) > 0 {
		td, err := m.slicer.Slice(rows[0], rows[0]+len(rows))
		if !isUnsupported(err) {
			return checkRows(td, err, len(rows))
		}
	}
	dst, err := s.destination(len(rows)), error(nil)
	if m.direct() {
		if dst, err = m.fetchable(s, len(rows)); err != nil {
			return nil, fmt.Errorf("into: %w", err)
		}
	}
	td, err := m.src.Fetch(ctx, rows, dst)
	if td, err = checkRows(td, err, len(rows)); err != nil {
		return nil, err
	}
	switch {
	case m.opt.Own:
		return td, cloneUnbatched(td)
	case td != dst && !m.direct():
		s.keep(td)
	}
	return td.Copy(), nil
}

// cloneUnbatched replaces the unbatched tensors of td, which belong to the source, by copies.
func cloneUnbatched(td *tdict.TensorDict) error {
	alike := map[nestedkey.Key]*tdict.Unbatched{}
	for key, leaf := range td.Leaves() {
		if u, ok := leaf.(*tdict.Unbatched); ok {
			alike[key] = u
		}
	}
	for key, u := range alike {
		own, err := u.Clone()
		if err == nil {
			err = td.Set(key, own)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fetched returns the row numbers in the source of the rows of a slot. A plan numbers the k-th
// repetition of row r as r + k*n; fetched returns r.
func (m *maker) fetched(s *slot) []int {
	if rows := s.rows.Rows; s.rows.Run || m.n == 0 || len(rows) == 0 || slices.Max(rows) < m.n {
		return rows
	}
	s.once = s.once[:0]
	for _, row := range s.rows.Rows {
		s.once = append(s.once, row%m.n)
	}
	return s.once
}

// checkRows returns an error unless td has n rows.
func checkRows(td *tdict.TensorDict, err error, n int) (*tdict.TensorDict, error) {
	switch {
	case err != nil:
		return nil, err
	case td == nil:
		return nil, errNilDict
	case len(td.Shape()) == 0 || td.Shape()[0] != n:
		return nil, fmt.Errorf("%w: got batch shape %v, want %d rows", ErrSource, td.Shape(), n)
	}
	return td, nil
}

// label adds the row numbers and the splits that the options ask for.
func (m *maker) label(s *slot) error {
	if m.opt.RowsKey != "" {
		numbers, err := m.numbers(s)
		if err == nil {
			err = add(s.batch, m.opt.RowsKey, numbers)
		}
		if err != nil {
			return fmt.Errorf("RowsKey: %w", err)
		}
	}
	if s.rows.Splits == nil {
		return nil
	}
	numbers, err := slices.Clone(s.rows.Splits), error(nil)
	if s.into != nil {
		numbers, err = s.padSplits(numbers, m.opt.SplitsKey)
	}
	var splits *tdict.Unbatched
	if err == nil {
		splits, err = tdict.NewUnbatched(tensor.Vector(numbers...))
	}
	if err == nil {
		err = add(s.batch, m.opt.SplitsKey, splits)
	}
	if err != nil {
		return fmt.Errorf("SplitsKey: %w", err)
	}
	return nil
}

// numbers returns the row numbers of a batch, int64 [N B...], expanded over B.
func (m *maker) numbers(s *slot) (*tensor.Tensor, error) {
	batch := s.batch.Shape()
	numbers, shape := make([]int64, len(s.rows.Rows)), slices.Repeat([]int{1}, len(batch))
	for i, row := range m.fetched(s) {
		numbers[i] = int64(row)
	}
	shape[0] = len(numbers)
	x, err := tensor.From(numbers, shape...)
	if err != nil {
		return nil, err
	}
	return x.Expand(batch...)
}

// add sets a key that td must not have.
func add(td *tdict.TensorDict, key nestedkey.Key, v tdict.Value) error {
	if td.Has(key) {
		return &tdict.KeyError{Op: "set", Key: key, Err: tdict.ErrExists}
	}
	return td.Set(key, v)
}
