package samplecache

import (
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/tensor"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// nearBytes is a piece that stays in the processor's nearest cache.
const nearBytes = 4 << 10

var nears = sync.Pool{New: func() any { return new([nearBytes]byte) }}

// checksum returns the CRC-32C of bytes. Of more than a few it copies piece by piece to where they
// are near: Go's CRC-32C reads from three places at a time, which memory is slow at. That takes
// half the time.
func checksum(b []byte) (sum uint32) {
	if len(b) <= nearBytes {
		return crc32.Checksum(b, castagnoli)
	}
	near := nears.Get().(*[nearBytes]byte)
	defer nears.Put(near)
	for len(b) > 0 {
		n := copy(near[:], b)
		sum = crc32.Update(sum, castagnoli, near[:n])
		b = b[n:]
	}
	return sum
}

// sumOf returns the sum of a part of what a lender lends, or [ErrCorrupt] if it lends less.
func sumOf(lender tensor.Lender, from, size int) (sum uint32, err error) {
	if lender == nil {
		return 0, fmt.Errorf("%w: the engine lends no memory, want %d bytes", ErrCorrupt, size)
	}
	b, err := lender.Borrow()
	if err != nil {
		return 0, err
	}
	defer lender.Return()
	if from < 0 || from > len(b) || size > len(b)-from {
		return 0, fmt.Errorf("%w: the engine lends %d bytes, want %d from %d on", ErrCorrupt, len(b), size, from)
	}
	err = mapping.Guard(func() { sum = checksum(b[from:][:size]) })
	if err == nil {
		err = intact(lender)
	}
	return sum, err
}

// verifiedRows returns the bits of the rows of a generation whose sums the process has compared.
// Those of generations that are not retained any more are forgotten.
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

// verify compares the sums of a row with those that were committed, as the options say.
func (g *Generation) verify(row int) error {
	return g.compare(row, func(leaf int) (uint32, error) {
		lender, offset := g.rows.Place(leaf)
		size := g.cache.leaves[leaf].bytes
		return sumOf(lender, offset+row*size, size)
	})
}

// compare is verify of a row whose sums are sum(leaf).
func (g *Generation) compare(row int, sum func(leaf int) (uint32, error)) error {
	bit := uint64(1) << (row % 64)
	switch {
	case g.cache.verify == Never:
		return nil
	case g.cache.verify == First && g.right[row/64].Load()&bit != 0:
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
	g.right[row/64].Or(bit)
	return nil
}

// info describes a row.
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
