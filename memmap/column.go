package memmap

import (
	"bufio"
	"errors"
	"os"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
)

// A column is a file of a dataset that grows: a tensor, or a part of a ragged tensor.
type column struct {
	key   nestedkey.Key // of the leaf
	entry *metaEntry
	rows  *grown // the ragged tensor; nil for a tensor
	part  string // of it
	level int    // of rows, of which the part has a number or a value each
	width int    // bytes of a row of a tensor, a value of a ragged tensor, or a number
	saved int64  // bytes that are committed
	file  columnFile
	buf   *bufio.Writer
	sum   tdc.Summer
}

// A grown is a ragged tensor of a dataset that grows.
type grown struct {
	dims   int   // of the batch
	counts []int // rows of each level so far; level 0 is the batch
	tag    uint32
}

// columnsOf returns the columns of a dictionary that grows.
func columnsOf(m *meta) (columns []*column, err error) {
	for _, k := range m.keyed() {
		if k.e != nil {
			if !k.e.isNode() && !k.e.fact.unbatched {
				columns = append(columns, newColumn(keyOf(k.path), k.e, 1))
			}
			continue
		}
		parts, err := partsOf(k.parts, nil)
		if err != nil {
			return nil, err
		}
		rows := &grown{dims: len(parts.Batch), counts: make([]int, parts.Depth+1), tag: pool.RandomTag()}
		for _, e := range k.parts {
			c := newColumn(keyOf(k.path), e, rows.dims+1)
			c.rows, c.part = rows, partName(e.name)
			switch level := pool.Level(c.part); {
			case c.part == pool.Values:
				c.level = parts.Depth
			case level <= parts.Depth:
				c.width, c.level = 8, max(0, level-1)
			default: // lengths of a tensor without levels
				c.width = 0
			}
			columns = append(columns, c)
		}
	}
	return columns, nil
}

// newColumn returns the column of the entry e, whose rows or values have the dims from the given
// one on.
func newColumn(key nestedkey.Key, e *metaEntry, dim int) *column {
	dtype, _ := e.element() // was checked when it was planned
	return &column{key: key, entry: e, width: e.shape[min(dim, len(e.shape)):].Size() * dtype.Size()}
}

// at returns the path of the file in the directory.
func (c *column) at() string { return fileName(c.entry.name) + leafExt }

// isPool reports whether the file has more elements than are counted: a pool, or lengths of a level
// below the first.
func (c *column) isPool() bool { return c.rows != nil && (c.part == pool.Values || c.level > 0) }

// size returns the size in bytes of the rows so far.
func (c *column) size() int64 {
	n := c.entry.shape[0]
	if c.rows != nil {
		n = c.rows.counts[c.level]
	}
	return int64(n) * int64(c.width)
}

// poolWidth returns the width of a pool.
func (c *column) poolWidth() int { return pool.Width(c.rows.counts[c.level], c.rows.counts[0]) }

// extent returns the size in bytes of the shape of the entry, which the file must have when rows
// are committed: Python would extend a shorter one.
func (c *column) extent() int64 {
	if !c.isPool() {
		return c.size()
	}
	return int64(c.rows.counts[0]) * int64(c.poolWidth()) * int64(c.width)
}

// setShape sets the shape of the entry for n rows.
func (c *column) setShape(n int) {
	if c.entry.shape[0] = n; c.isPool() {
		c.entry.shape[c.rows.dims] = c.poolWidth()
	}
}

// resume opens the file to append to its first size bytes. A pool is not truncated: readers of an
// earlier commit may have mapped what follows.
func (c *column) resume(in vfs.Dir, size int64) (vfs.File, error) {
	return in.Resume(c.at(), size, !c.isPool())
}

// append appends the rows of td.
func (c *column) append(td *tdict.TensorDict) error {
	if c.width == 0 {
		return nil
	}
	if c.rows == nil {
		t, err := td.Tensor(c.key)
		if err == nil {
			_, err = bundle.Write(&c.sum, t)
		}
		return err
	}
	t, err := tdict.Get[*ragged.Tensor](td, c.key)
	if err != nil {
		return err
	}
	return pool.Write(&c.sum, c.part, t, c.rows.counts[0], c.rows.tag)
}

// count adds the rows of t to the counts of all levels.
func (g *grown) count(t *ragged.Tensor) error {
	for level := range g.counts {
		more, err := t.Layout().NumRows(level)
		if err != nil {
			return err
		}
		g.counts[level] += more
	}
	return nil
}

// readTag reads the tag from the file of row numbers of a dataset.
func (c *column) readTag(in *vfs.Root) error {
	f, err := openIn(in, c.at(), os.O_RDONLY)
	if err != nil {
		return err
	}
	err = readInts(f, 1, func(row []int64) error { c.rows.tag = pool.TagIn(row[0]); return nil })
	return errors.Join(err, f.Close())
}
