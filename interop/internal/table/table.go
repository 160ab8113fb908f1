package table

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/go-tensordict/tensordict/internal/elemtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Options are further properties of entries of a schema.
type Options struct {
	// Categories has the text entries that become int32 codes: the numbers of the texts in
	// TextCodes, which gets new texts. Codes of one TextCodes are the same in all chunks and
	// tables. Dict assigns new codes.
	Categories map[nestedkey.Key]*ragged.TextCodes
	// Times has the int64 entries that are read and written as dates or times.
	Times map[nestedkey.Key]Time
	// Fill has the texts that replace missing values. A value of these entries may be missing even
	// if the entry is not Optional.
	Fill map[nestedkey.Key]string
}

// A Table holds rows. Its memory is reused after [Table.Reset].
type Table struct {
	columns []*Column
	dicts   []tdict.Spec
	schema  tdict.Schema
}

// New returns a table without rows for a schema. Its allocations depend only on the schema. It
// returns tdict.ErrSchema in a [*tdict.KeyError] for an entry that a table cannot hold: Data,
// unbatched tensors, stacks, any dtype, sizes that are Any, and ragged tensors with Batch, of depth
// 0 or with values of no elements; for a mask whose key another entry has; and for invalid options.
func New(schema tdict.Schema, opt Options) (*Table, error) {
	if err := schema.Validate(); err != nil {
		return nil, err
	}
	t := &Table{}
	keys := map[nestedkey.Key]bool{}
	for _, s := range schema {
		for key, nested := s.Key, true; nested; key, nested = key.Parent() {
			keys[key] = true
		}
	}
	for _, s := range schema {
		if s.Optional && keys[maskKey(s.Key)] {
			return nil, refusedKey(s.Key, "got an entry %q, which is the key of its mask, want another name for one of them", maskKey(s.Key))
		}
		if err := t.add(s, opt); err != nil {
			return nil, refusedKey(s.Key, "%w", err)
		}
	}
	if err := opt.check(t); err != nil {
		return nil, err
	}
	if err := t.schema.Validate(); err != nil { // duplicate masks
		return nil, err
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
	keys := slices.Concat(slices.Collect(maps.Keys(opt.Categories)), slices.Collect(maps.Keys(opt.Times)), slices.Collect(maps.Keys(opt.Fill)))
	slices.Sort(keys)
	for _, key := range keys {
		if t.Column(key) == nil {
			return refusedKey(key, "got Categories, Times or Fill for a key that is not in the schema")
		}
	}
	return nil
}

// add adds the entry of a spec.
func (t *Table) add(s tdict.Spec, opt Options) error {
	if err := checkHolds(s); err != nil {
		return err
	}
	if s.Kind == tdict.KindDict {
		t.dicts, t.schema = append(t.dicts, s), append(t.schema, s)
		return nil
	}
	c, err := newColumn(s, opt)
	if err != nil {
		return err
	}
	made := s
	if c.codes != nil {
		made.Kind, made.DType = tdict.KindTensor, tensor.Int32
	}
	t.columns, t.schema = append(t.columns, c), append(t.schema, made)
	if c.mask != nil {
		mask := tdict.Spec{Key: c.maskKey(), DType: tensor.Bool, Shape: c.maskShape(0)[1:], Optional: true, Doc: "where " + string(s.Key) + " is not missing"}
		t.schema = append(t.schema, mask)
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

// newColumn returns a column without rows.
func newColumn(s tdict.Spec, opt Options) (*Column, error) {
	c := &Column{Spec: s, Width: s.Shape.Size(), elem: elemtext.Of(cmp.Or(s.DType, tensor.Uint8).String()), offsets: make([][]int64, s.Depth)}
	if s.Kind == tdict.KindText {
		c.offsets = make([][]int64, 1)
	}
	if s.Optional {
		c.mask = []bool{}
	}
	if err := c.setCategories(opt); err != nil {
		return nil, err
	}
	if err := c.setTime(opt); err != nil {
		return nil, err
	}
	return c, c.setFill(opt)
}

func (c *Column) setCategories(opt Options) error {
	codes, ok := opt.Categories[c.Spec.Key]
	if !ok {
		return nil
	}
	if codes == nil {
		return fmt.Errorf("got nil in Categories, want TextCodes")
	}
	if c.Spec.Kind != tdict.KindText {
		return fmt.Errorf("got Categories of %v, want text, which becomes codes", c.describe())
	}
	c.codes = codes
	return nil
}

func (c *Column) setTime(opt Options) error {
	tm, ok := opt.Times[c.Spec.Key]
	if !ok {
		return nil
	}
	tm = tm.withDefaults()
	if c.Spec.DType != tensor.Int64 {
		return fmt.Errorf("got Times of %v, want %v", c.describe(), tensor.Int64)
	}
	c.time = &tm
	return tm.check()
}

func (c *Column) setFill(opt Options) error {
	fill, ok := opt.Fill[c.Spec.Key]
	if !ok {
		return nil
	}
	if c.Spec.Kind == tdict.KindRagged {
		return fmt.Errorf("got Fill for a ragged entry, want a tensor or text")
	}
	c.fill = []byte(fill)
	if c.Spec.Kind == tdict.KindText {
		return nil
	}
	return c.parse(c.fill)
}

// Schema returns the schema of the dictionaries of t: with masks, and with codes for categories.
func (t *Table) Schema() tdict.Schema { return slices.Clone(t.schema) }

// Columns returns the columns, in the order of the schema.
func (t *Table) Columns() []*Column { return t.columns }

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
		if c.mask != nil {
			c.mask = slices.Grow(c.mask, rows*c.Width)
		}
		for i := range c.offsets {
			c.offsets[i] = slices.Grow(c.offsets[i], rows)
		}
	}
}

// Reset removes all rows. Dictionaries from Dict must not be used afterwards.
func (t *Table) Reset() {
	for _, c := range t.columns {
		c.reset()
	}
}

// Dict returns the rows as a dictionary of batch shape [rows], which shares the memory of t: it is
// valid until Reset; Clone it to keep it longer. It has the entries of the schema, and the masks.
// Its allocations do not depend on the number of rows, except for new categories and offsets. Dict
// returns shapeops.ErrShape, with the key, unless each column has that many rows.
func (t *Table) Dict(rows int) (*tdict.TensorDict, error) {
	td := tdict.New(rows)
	for _, s := range t.dicts {
		if err := td.Set(s.Key, tdict.New(append(shapeops.Shape{rows}, s.Shape...)...)); err != nil {
			return nil, err
		}
	}
	for _, c := range t.columns {
		if err := c.set(td, rows); err != nil {
			return nil, err
		}
	}
	return td, nil
}

// set sets the entry of c and its mask in a dictionary of rows rows.
func (c *Column) set(td *tdict.TensorDict, rows int) error {
	v, err := c.value(rows)
	if err != nil {
		return &tdict.KeyError{Op: "table", Key: c.Spec.Key, Err: err}
	}
	if err := td.Set(c.Spec.Key, v); err != nil || c.mask == nil {
		return err
	}
	mask, err := tensor.From(c.mask, c.maskShape(rows)...)
	if err != nil {
		return &tdict.KeyError{Op: "table", Key: c.maskKey(), Err: err}
	}
	return td.Set(c.maskKey(), mask)
}
