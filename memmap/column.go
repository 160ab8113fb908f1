package memmap

import (
	"bufio"
	"encoding/binary"
	"path"
	"slices"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
)

// A column is a file of a dataset that grows: the elements of a leaf, or the offsets of a level of
// a ragged leaf.
type column struct {
	key   nestedkey.Key
	entry *metaEntry
	level int   // of the offsets; 0 for elements
	width int   // bytes of a row of a tensor, a value of a ragged tensor, or an offset
	saved int64 // bytes that are committed
	file  columnFile
	buf   *bufio.Writer
	sum   summer
	bytes []byte // buffer for offsets
}

// columnsOf returns the columns of a dictionary that grows.
func columnsOf(m *meta) (columns []*column) {
	for i := range m.entries {
		e := &m.entries[i]
		add := func(level, width int) {
			columns = append(columns, &column{key: keyOf(e.fact.path), entry: e, level: level, width: width})
		}
		switch f := e.fact.rows; {
		case f != nil:
			add(0, f.features.Size()*f.dtype.Size())
			for level := 1; level <= len(f.levels); level++ {
				if f.own(level) {
					add(level, 8)
				}
			}
		case !e.isNode() && !e.fact.unbatched:
			dtype, _ := e.element() // was checked when it was planned
			add(0, e.shape[1:].Size()*dtype.Size())
		}
	}
	return columns
}

// at returns the path of the file in the directory.
func (c *column) at() string {
	switch {
	case c.entry.fact.rows == nil:
		return fileName(c.entry.name) + leafExt
	case c.level == 0:
		return path.Join(fileName(c.entry.name), valuesName+leafExt)
	}
	return path.Join(fileName(c.entry.name), offsetsName(c.level)+leafExt)
}

// size returns the size in bytes of the rows that the entry counts.
func (c *column) size() int64 {
	rows := 0
	switch f := c.entry.fact.rows; {
	case f == nil:
		rows = c.entry.shape[0]
	case c.level == 0:
		rows = f.rowsAt(len(f.levels))
	default:
		rows = f.rowsAt(c.level-1) + 1
	}
	return int64(rows) * int64(c.width)
}

// sums returns the field of the entry for the sums of the file.
func (c *column) sums() *[]uint32 {
	if c.level > 0 {
		return &c.entry.fact.rows.levels[c.level-1].sums
	}
	return &c.entry.fact.sums
}

// append appends the rows of td.
func (c *column) append(td *tdict.TensorDict) error {
	if c.width == 0 {
		return nil
	}
	if c.entry.fact.rows == nil {
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
	if c.level > 0 {
		return c.appendOffsets(t.Layout())
	}
	values, err := t.Values()
	if err == nil {
		_, err = bundle.Write(&c.sum, values)
	}
	return err
}

// appendOffsets appends the ends of the rows of l, shifted to follow the rows that are there.
func (c *column) appendOffsets(l *ragged.Layout) error {
	offsets, err := l.Offsets(c.level)
	if err != nil {
		return err
	}
	before := int64(c.entry.fact.rows.rowsAt(c.level))
	for part := range slices.Chunk(offsets[1:], 512) {
		c.bytes = c.bytes[:0]
		for _, end := range part {
			c.bytes = binary.LittleEndian.AppendUint64(c.bytes, uint64(before+end))
		}
		if _, err := c.sum.Write(c.bytes); err != nil {
			return err
		}
	}
	return nil
}
