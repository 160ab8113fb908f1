package samplecache

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
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
	id    uint64
	cache *Cache
	rows  Rows
	pass  Pass // of a group, or nil

	mu     sync.Mutex
	credit int // rows that limits have allowed and that were not handed out yet
	over   bool
}

var (
	_ loader.Source    = (*Generation)(nil)
	_ loader.Slicer    = (*Generation)(nil)
	_ loader.Describer = (*Generation)(nil)
)

// ID returns the number of the generation, from 1 on.
func (g *Generation) ID() uint64 { return g.id }

// Len returns the number of samples.
func (g *Generation) Len() int { return g.rows.Len() }

// Fetch returns copies of rows, as loader.Source says:
//
//	rows [N] -> batch shape [N]
//
// The checksums of rows that the process has not read before are compared first: a row that is not
// what was committed is a [RowError] that wraps [ErrChecksum]; see [Options.Verify]. In an epoch of
// a group, Fetch waits until limits allow the rows.
func (g *Generation) Fetch(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	for _, row := range rows {
		if uint(row) >= uint(g.Len()) {
			return nil, fmt.Errorf("%w: got row %d of %d", shapeops.ErrIndex, row, g.Len())
		}
	}
	if err := g.take(ctx, len(rows)); err != nil {
		return nil, err
	}
	return g.rows.Fetch(ctx, rows, dst)
}

// Slice returns the rows from start on, before stop, as views of mapped memory, which are
// [ErrClosed] after g.Close. Sums are compared as by Fetch. If limits do not allow the rows yet, it
// is errors.ErrUnsupported: Fetch waits.
func (g *Generation) Slice(start, stop int) (*tdict.TensorDict, error) {
	if start < 0 || stop < start || stop > g.Len() {
		return nil, fmt.Errorf("%w: got rows %d to %d of %d", shapeops.ErrIndex, start, stop, g.Len())
	}
	err := g.tryTake(stop - start)
	if errors.Is(err, ErrBlocked) {
		return nil, fmt.Errorf("%w: rows %d to %d are not allowed yet", errors.ErrUnsupported, start, stop)
	}
	if err != nil {
		return nil, err
	}
	return g.rows.Slice(start, stop)
}

// Info returns where a row comes from.
func (g *Generation) Info(row int) (Info, error) { return g.rows.Info(row) }

// Describe implements loader.Describer. The state of a loader says by its Version which generation
// it was reading: see [Cache.Resume].
func (g *Generation) Describe() (loader.Description, error) {
	about, err := g.rows.Describe()
	about.Version = g.cache.version(g.id)
	return about, err
}

// Close lets go of the generation. Views of it are [ErrClosed] from now on; an operation that has
// begun reads to the end. Slices that tensor.Of or tdict.Slice handed out of views must not be used
// any more, nor once reads are [ErrGenerationGone]: use tensor.Read, or rows of Fetch, for what may
// outlast it. Close returns ErrClosed if it was called before.
func (g *Generation) Close() error {
	g.mu.Lock()
	over := g.over
	g.over = true
	g.mu.Unlock()
	if over {
		return ErrClosed
	}
	err := g.rows.Close()
	if g.pass != nil {
		err = errors.Join(err, g.pass.Close())
	}
	return err
}

// take waits until limits allow n more rows.
func (g *Generation) take(ctx context.Context, n int) error {
	if g.pass == nil {
		return nil
	}
	return g.cache.await(ctx, fmt.Sprintf("rows of generation %d", g.id), func() error { return g.tryTake(n) })
}

// tryTake uses n rows of those that limits allow. What it gets of fewer is kept for the next call.
func (g *Generation) tryTake(n int) error {
	if g.pass == nil || n == 0 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.credit < n {
		got, err := g.pass.Take(n - g.credit)
		if err != nil {
			return err
		}
		g.credit += got
	}
	g.credit -= n
	return nil
}
