package samplecache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Generation is a published set of samples, held until Close: its rows do not change, nor do they
// go away, however many generations are published meanwhile. Only a generation that is kept for
// nobody else is given up [Config.MaxHold] after it was retired; then reads are
// [ErrGenerationGone].
//
// It is a loader.Source, Slicer and Describer: loader.New(g, opt) makes mini-batches of it, with
// every option of orders, ranks and workers.
//
// Safe for concurrent use.
type Generation struct {
	id       uint64
	cache    *Cache
	rows     engine.Rows
	gate     gate            // for those who read; shut by Close, or when the generation has lapsed
	closed   atomic.Bool     // by Close
	right    []atomic.Uint64 // a bit for each row whose sums were compared; others share it
	src      loader.Source   // of all rows
	inMemory bool            // otherwise src has no elements, and the engine copies them
	pass     engine.Pass     // of a group, or nil
	credit   atomic.Int64    // rows that limits have allowed and that were not handed out yet
}

var (
	_ loader.Source    = (*Generation)(nil)
	_ loader.Slicer    = (*Generation)(nil)
	_ loader.Describer = (*Generation)(nil)
)

// tryOpen opens a generation at the engine.
func (c *Cache) tryOpen(ctx context.Context, id uint64) (*Generation, error) {
	rows, err := c.session.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	g := &Generation{id: id, cache: c, rows: rows, right: c.verifiedRows(id), inMemory: true}
	td, err := c.lend(g, shapeops.Shape{g.Len()}, rows.Place)
	if err == nil {
		td.Lock("it is a published generation: change a Copy of it")
		g.src, err = loader.From(td)
	}
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	for _, x := range td.Tensors() {
		g.inMemory = g.inMemory && x.Device() != tensor.Meta
	}
	g.gate.start(&c.lent)
	if over := rows.Lapsed(); over != nil {
		go g.watch(over)
	}
	return g, nil
}

// watch lets go of a generation that was held for too long.
func (g *Generation) watch(over <-chan struct{}) {
	select {
	case <-over:
		_ = g.end() // nobody waits for it
	case <-g.gate.empty:
	case <-g.cache.life:
	}
}

// end lets go of the generation at the engine once nobody reads it, if that was not begun before.
func (g *Generation) end() error {
	if !g.gate.shut() {
		return nil
	}
	if ready(g.gate.empty) {
		return g.cache.call(g.rows.Close)
	}
	go func() {
		<-g.gate.empty
		_ = g.cache.call(g.rows.Close) // it was only read
	}()
	return nil
}

// ID returns the number of the generation, from 1 on.
func (g *Generation) ID() uint64 { return g.id }

// Len returns the number of samples.
func (g *Generation) Len() int {
	if g.cache == nil {
		return 0
	}
	return g.cache.about.Config.Samples
}

// enter lets an operation in; leave must follow.
func (g *Generation) enter() error {
	if g.cache != nil && !ready(g.rows.Lapsed()) && g.gate.enter() {
		return nil
	}
	if g.cache == nil || g.closed.Load() || !g.cache.lent.isOpen() {
		return fmt.Errorf("%s: %w", g.name(), ErrClosed)
	}
	return fmt.Errorf("%s: %w: it was held for more than %v after it was retired",
		g.name(), ErrGenerationGone, g.cache.about.Config.MaxHold)
}

func (g *Generation) leave() { g.gate.leave() }

func (g *Generation) name() string { return fmt.Sprintf("generation %d", g.id) }

// Fetch returns copies of rows, as loader.Source says:
//
//	rows [N] -> batch shape [N]
//
// The checksums of rows that the process has not read before are compared first: a row that is not
// what was committed is a [RowError] that wraps [ErrChecksum]; see [Options.Verify]. In an epoch of
// a group, Fetch waits until limits allow the rows.
func (g *Generation) Fetch(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	ctx = orBackground(ctx)
	for _, row := range rows {
		if err := g.check(row); err != nil {
			return nil, err
		}
	}
	if err := g.take(ctx, len(rows)); err != nil {
		return nil, err
	}
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer g.leave()
	if !g.inMemory {
		return g.copyRows(ctx, rows, dst)
	}
	for _, row := range rows {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := g.verify(row); err != nil {
			return nil, err
		}
	}
	return g.src.Fetch(ctx, rows, dst)
}

// check returns shapeops.ErrIndex for a row that does not exist.
func (g *Generation) check(row int) error {
	if uint(row) >= uint(g.Len()) {
		return fmt.Errorf("%w: got row %d of %d", shapeops.ErrIndex, row, g.Len())
	}
	return nil
}

// Slice returns the rows from start on, before stop, as views of the engine's memory, which are
// [ErrClosed] after g.Close. Sums are compared as by Fetch. If limits do not allow the rows yet, or
// the engine does not have them in memory, it is errors.ErrUnsupported: call Fetch.
func (g *Generation) Slice(start, stop int) (*tdict.TensorDict, error) {
	if start < 0 || stop < start || stop > g.Len() {
		return nil, fmt.Errorf("%w: got rows %d to %d of %d", shapeops.ErrIndex, start, stop, g.Len())
	}
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer g.leave()
	if !g.inMemory {
		return nil, fmt.Errorf("%w: rows are not in memory", errors.ErrUnsupported)
	}
	err := g.cache.call(func() error { return g.tryTake(context.Background(), int64(stop-start)) })
	if errors.Is(err, ErrBlocked) {
		return nil, fmt.Errorf("%w: rows %d to %d are not allowed yet", errors.ErrUnsupported, start, stop)
	}
	if err != nil {
		return nil, err
	}
	for row := start; row < stop; row++ {
		if err := g.verify(row); err != nil {
			return nil, err
		}
	}
	return g.src.(loader.Slicer).Slice(start, stop)
}

// Info returns where a row comes from.
func (g *Generation) Info(row int) (Info, error) {
	if err := g.check(row); err != nil {
		return Info{}, err
	}
	if err := g.enter(); err != nil {
		return Info{}, err
	}
	defer g.leave()
	return g.info(row)
}

// Describe implements loader.Describer. The state of a loader says by its Version which generation
// it was reading: see [Cache.Resume].
func (g *Generation) Describe() (loader.Description, error) {
	if g.cache == nil {
		return loader.Description{}, errClosed
	}
	about, err := g.src.(loader.Describer).Describe()
	about.Version = g.cache.version(g.id)
	return about, err
}

// Close lets go of the generation. Views of it are [ErrClosed] from now on; an operation that has
// begun reads to the end. Slices that tensor.Of or tdict.Slice handed out of views must not be used
// any more, nor once reads are [ErrGenerationGone]: use tensor.Read, or rows of Fetch, for what may
// outlast it. Close returns ErrClosed if it was called before.
func (g *Generation) Close() error {
	if g.cache == nil || g.closed.Swap(true) || !g.cache.lent.isOpen() {
		return fmt.Errorf("%s: %w", g.name(), ErrClosed)
	}
	err := g.end()
	if g.pass != nil {
		err = errors.Join(err, g.cache.call(g.pass.Close))
	}
	return err
}

// take waits until limits allow n more rows.
func (g *Generation) take(ctx context.Context, n int) error {
	if !g.limited() {
		return nil
	}
	return g.cache.await(ctx, fmt.Sprintf("rows of generation %d", g.id), func() error { return g.tryTake(ctx, int64(n)) })
}

// limited reports whether rows are counted.
func (g *Generation) limited() bool {
	return g.pass != nil && g.cache.about.Config.Limits != Limits{}
}

// tryTake uses n rows of those that limits allow. Fewer are left to the next call, or to one that
// waits.
func (g *Generation) tryTake(ctx context.Context, n int64) error {
	for g.limited() {
		left := g.credit.Load()
		if left >= n && g.credit.CompareAndSwap(left, left-n) {
			return nil
		}
		if left >= n {
			continue
		}
		got, err := g.pass.Take(ctx, int(n-left))
		if err != nil {
			return err
		}
		g.credit.Add(int64(got))
		g.cache.moved.raise()
	}
	return nil
}
