package table

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// Options are further properties of entries of a schema.
type Options struct {
	// Fill has the texts that replace missing values. A value of these entries may be missing even
	// if the entry is not Optional.
	Fill map[nestedkey.Key]string
}

// A Table holds rows. Its memory is reused after [Table.Reset].
type Table struct {
	columns []*Column
	dicts   []*Entry
	levels  []*Level
	masks   []*Mask
	schema  tdict.Schema
}

// New returns a table without rows for a schema. Its allocations depend only on the schema. It
// returns tdict.ErrSchema in a [*tdict.KeyError] for an entry that a table cannot hold: Data,
// unbatched tensors, stacks, any dtype, sizes that are Any, and ragged tensors with Batch, of depth
// 0 or with values of no elements; for an entry with fewer levels than the dictionary around it;
// and for invalid options.
//
// An Optional entry without a Mask gets one: its key followed by "_mask", or if an entry has that
// key, by "_mask2" and so on. An entry that is the Mask of another is not a column.
func New(schema tdict.Schema, opt Options) (*Table, error) {
	if err := schema.Validate(); err != nil {
		return nil, err
	}
	m := newMaker(schema)
	for _, s := range schema {
		if m.masks[s.Key] {
			continue
		}
		if s.Optional && s.Mask == "" {
			s.Mask = m.free(s.Key + "_mask")
		}
		if err := m.add(s, opt); err != nil {
			return nil, refusedKey(s.Key, "%w", err)
		}
	}
	t := m.table
	if err := m.checkLevels(); err != nil {
		return nil, err
	}
	if err := opt.check(t); err != nil {
		return nil, err
	}
	if len(t.schema) > len(schema) { // masks were added, or a mask has two entries
		if err := t.schema.Validate(); err != nil {
			return nil, err
		}
	}
	t.Reset()
	return t, nil
}

// refusedKey returns ErrSchema for a key.
func refusedKey(key nestedkey.Key, format string, args ...any) error {
	return &tdict.KeyError{Op: "table", Key: key, Err: fmt.Errorf("%w: "+format, append([]any{tdict.ErrSchema}, args...)...)}
}

// check returns ErrSchema for an option with a key that is not a column of t.
func (opt Options) check(t *Table) error {
	for _, key := range slices.Sorted(maps.Keys(opt.Fill)) {
		if t.Column(key) == nil {
			return refusedKey(key, "got Fill for a key that is not in the schema")
		}
	}
	return nil
}

// checkHolds returns an error for a spec that a table cannot hold.
func checkHolds(s tdict.Spec) error {
	typed := s.Kind == tdict.KindTensor || s.Kind == tdict.KindRagged
	switch {
	case s.Kind == tdict.KindData || s.Kind == tdict.KindUnbatched || s.Kind == tdict.KindStacked:
		return fmt.Errorf("got %v, want a tensor, a ragged tensor or text", s.Kind)
	case typed && s.DType == 0:
		return fmt.Errorf("got any dtype, want a specific dtype")
	case slices.Contains(s.Shape, tdict.Any):
		return fmt.Errorf("got shape %v, want sizes other than any", s.Shape)
	case s.Kind == tdict.KindRagged && (s.Depth == 0 || len(s.Batch) > 0 || s.Shape.Size() == 0):
		return fmt.Errorf("got ragged of depth %d, Batch %v and Shape %v, want at least one level, no Batch and no size 0", s.Depth, s.Batch, s.Shape)
	}
	return s.Shape.Check()
}

// setCategories sets the codes of the categories, which the dtype must hold.
func (c *Column) setCategories() error {
	if c.Spec.Categories == nil {
		return nil
	}
	c.codes = make(map[string]int, len(c.Spec.Categories))
	for code, text := range c.Spec.Categories {
		var ok bool
		if c.elems, ok = c.elem.Parse(c.elems, strconv.AppendInt(nil, int64(code), 10)); !ok {
			return fmt.Errorf("got %d categories, want no more than %v numbers", len(c.Spec.Categories), c.Spec.DType)
		}
		c.codes[text] = code
	}
	return nil
}

func (c *Column) setFill(opt Options) error {
	fill, ok := opt.Fill[c.Spec.Key]
	if !ok {
		return nil
	}
	if c.deep() {
		return fmt.Errorf("got Fill for an entry with Depth, want a tensor or text")
	}
	c.fill = []byte(fill)
	if c.Spec.Kind == tdict.KindText {
		return nil
	}
	return c.parse(c.fill)
}

// Schema returns the schema of the dictionaries of t, with masks.
func (t *Table) Schema() tdict.Schema { return slices.Clone(t.schema) }

// Columns returns the columns, in the order of the schema.
func (t *Table) Columns() []*Column { return t.columns }

// Dicts returns the dictionaries that the schema lists, in its order.
func (t *Table) Dicts() []*Entry { return t.dicts }

// Column returns the column of a key, or nil.
func (t *Table) Column(key nestedkey.Key) *Column {
	i := slices.IndexFunc(t.columns, func(c *Column) bool { return c.Spec.Key == key })
	if i < 0 {
		return nil
	}
	return t.columns[i]
}

// maxGrow bounds the elements for which Grow allocates memory, since the first row of a file may be
// invalid.
const maxGrow = 1 << 20

// Grow allocates memory for a number of rows, up to maxGrow elements. That saves copies while
// columns grow.
func (t *Table) Grow(rows int) {
	width := 1
	for _, c := range t.columns {
		width += min(max(c.Width, 1), maxGrow)
	}
	rows = min(rows, maxGrow/width)
	for _, c := range t.columns {
		if c.Spec.Kind == tdict.KindTensor {
			c.data = slices.Grow(c.data, rows*c.Width*c.elem.Size)
		}
	}
	for _, l := range t.levels {
		l.offsets = slices.Grow(l.offsets, rows)
	}
	for _, m := range t.masks {
		m.bits = slices.Grow(m.bits, rows)
	}
}

// Reset removes all rows. Dictionaries from Dict must not be used afterwards.
func (t *Table) Reset() {
	for _, c := range t.columns {
		c.data = c.data[:0]
	}
	for _, l := range t.levels {
		l.reset()
	}
	for _, m := range t.masks {
		m.bits = m.bits[:0]
	}
}

// Dict returns the rows as a dictionary of batch shape [rows], which shares the memory of t: it is
// valid until Reset; Clone it to keep it longer. It has the entries of the schema, and the masks.
// The columns of a list of objects share a layout. Its allocations do not depend on the number of
// rows, except for offsets. Dict returns shapeops.ErrShape or ragged.ErrOffsets,
// with the key, unless each column has that many rows.
func (t *Table) Dict(rows int) (*tdict.TensorDict, error) {
	td := tdict.New(rows)
	batch, err := ragged.NewLayout(shapeops.Shape{rows})
	if err != nil {
		return nil, err
	}
	for _, l := range t.levels {
		l.layout = nil
	}
	dicts, columns := t.dicts, t.columns
	for i := range t.schema {
		switch key := t.schema[i].Key; { // the others are masks
		case len(dicts) > 0 && dicts[0].Spec.Key == key:
			err = dicts[0].set(td, batch, tdict.New(append(shapeops.Shape{rows}, dicts[0].Spec.Shape...)...))
			dicts = dicts[1:]
		case len(columns) > 0 && columns[0].Spec.Key == key:
			err = columns[0].setRows(td, batch, rows)
			columns = columns[1:]
		}
		if err != nil {
			return nil, err
		}
	}
	return td, nil
}

// set sets an entry and its masks in td.
func (e *Entry) set(td *tdict.TensorDict, batch *ragged.Layout, v tdict.Value) error {
	if err := td.Set(e.Spec.Key, v); err != nil {
		return &tdict.KeyError{Op: "table", Key: e.Spec.Key, Err: err}
	}
	return e.setMasks(td, batch)
}

// setRows sets the entry of a column and its masks in td.
func (c *Column) setRows(td *tdict.TensorDict, batch *ragged.Layout, rows int) error {
	v, err := c.value(batch, rows)
	if err != nil {
		return &tdict.KeyError{Op: "table", Key: c.Spec.Key, Err: err}
	}
	return c.set(td, batch, v)
}
