package samplecache

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Fetch returns copies of rows, as loader.Source says:
//
//	rows [N] -> batch shape [N]
//
// It compares the checksums of rows that the process reads for the first time; see
// [Options.Verify]. If a checksum differs, Fetch returns a [RowError] that wraps [ErrChecksum]. In
// an epoch of a group, Fetch waits until limits allow the rows.
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

// Slice returns rows start to stop (exclusive) as views of the engine's memory. After g.Close the
// views return [ErrClosed]. Slice compares checksums as Fetch does. It returns
// errors.ErrUnsupported if limits do not allow the rows yet, or if the engine does not have them in
// memory: call Fetch.
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

// Info returns where the sample of a row comes from.
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

// take waits until limits allow n more rows.
func (g *Generation) take(ctx context.Context, n int) error {
	if !g.limited() {
		return nil
	}
	return g.cache.await(ctx, fmt.Sprintf("rows of generation %d", g.id), func() error { return g.tryTake(ctx, int64(n)) })
}

// limited reports whether limits count the rows of g.
func (g *Generation) limited() bool {
	return g.pass != nil && g.cache.about.Config.Limits != Limits{}
}

// tryTake takes n of the rows that limits allow. If limits allow fewer, it stores them in g.credit
// and returns [ErrBlocked].
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

// verifiedRows returns the bits of the rows of generation id whose checksums the process has
// compared. It forgets the bits of generations that are not retained any more.
func (c *Cache) verifiedRows(id uint64) []atomic.Uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newest = max(c.newest, id)
	maps.DeleteFunc(c.verified, func(id uint64, _ []atomic.Uint64) bool {
		return id+uint64(max(c.about.Config.Retain, 0)) < c.newest
	})
	if c.verified[id] == nil {
		c.verified[id] = make([]atomic.Uint64, (c.about.Config.Samples+63)/64)
	}
	return c.verified[id]
}

// verify compares the checksums of a row with the committed ones, as the options say.
func (g *Generation) verify(row int) error {
	return g.compare(row, func(leaf int) (uint32, error) {
		lender, offset := g.rows.Place(leaf)
		size := g.cache.leaves[leaf].bytes
		return sumOf(lender, offset+row*size, size)
	})
}

// compare is verify for a row whose checksums are sum(leaf).
func (g *Generation) compare(row int, sum func(leaf int) (uint32, error)) error {
	bit := uint64(1) << (row % 64)
	switch {
	case g.cache.verify == Never:
		return nil
	case g.cache.verify == First && g.verified[row/64].Load()&bit != 0:
		return nil
	}
	info, err := g.info(row)
	if err != nil {
		return err
	}
	for i, l := range g.cache.leaves {
		if l.bytes == 0 {
			continue
		}
		got, err := sum(i)
		if err == nil && got != info.Sums[i] {
			err = fmt.Errorf("%w: got %08x, want %08x", ErrChecksum, got, info.Sums[i])
		}
		if err != nil {
			return &RowError{Generation: g.id, Row: row, Key: string(l.key), Err: err}
		}
	}
	g.verified[row/64].Or(bit)
	return nil
}

// info describes the sample of a row.
func (g *Generation) info(row int) (Info, error) {
	info, err := g.rows.Info(row)
	if got, want := len(info.Sums), len(g.cache.leaves); err == nil && got != want {
		err = fmt.Errorf("%w: got %d sums, want %d", ErrCorrupt, got, want)
	}
	if _, ok := errors.AsType[*RowError](err); err != nil && !ok {
		err = &RowError{Generation: g.id, Row: row, Err: err}
	}
	return info, err
}

// copyRows makes the engine copy rows to dst, or to a new dictionary if they do not fit there, and
// compares their checksums.
func (g *Generation) copyRows(ctx context.Context, rows []int, dst *tdict.TensorDict) (_ *tdict.TensorDict, err error) {
	if !g.cache.fits(dst, len(rows)) {
		if dst, err = g.cache.about.Schema.NewZeros(len(rows)); err == nil {
			dst, err = dst.Materialize()
		}
		if err != nil {
			return nil, err
		}
	}
	leaves := g.cache.leaves
	sums := make([]uint32, len(rows)*len(leaves)) // row after row
	err = g.borrow(dst, nil, func(memory [][]byte) error {
		if err := g.read(ctx, rows, memory); err != nil {
			return err
		}
		for i, l := range leaves {
			for n := range rows {
				sums[n*len(leaves)+i] = crc32.ChecksumIEEE(memory[i][n*l.bytes:][:l.bytes])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for n, row := range rows {
		of := sums[n*len(leaves):]
		if err := g.compare(row, func(leaf int) (uint32, error) { return of[leaf], nil }); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// borrow calls fn with the memory of all leaves of dst. memory has the first leaves already.
func (g *Generation) borrow(dst *tdict.TensorDict, memory [][]byte, fn func(memory [][]byte) error) error {
	if len(memory) == len(g.cache.leaves) {
		return fn(memory)
	}
	l := g.cache.leaves[len(memory)]
	if l.bytes == 0 {
		return g.borrow(dst, append(memory, nil), fn)
	}
	x, err := dst.Tensor(l.key)
	if err == nil {
		x, err = x.Reinterpret(tensor.Uint8)
	}
	if err != nil {
		return err
	}
	failed := tensor.Write(x, func(b []uint8) { err = g.borrow(dst, append(memory, b), fn) })
	if err == nil {
		err = failed
	}
	return err
}

// read makes the engine copy rows of all leaves to memory.
func (g *Generation) read(ctx context.Context, rows []int, memory [][]byte) error {
	if all, ok := g.rows.Rows.(engine.RowReader); ok {
		return all.ReadRows(ctx, rows, memory)
	}
	for i, l := range g.cache.leaves {
		if l.bytes == 0 {
			continue
		}
		if err := g.rows.Read(ctx, rows, i, memory[i]); err != nil {
			return err
		}
	}
	return nil
}
