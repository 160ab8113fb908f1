package table

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/elemtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Load replaces the rows of t by copies of the rows of td, [n]. [Column.Text] then appends their
// texts. If td lacks an Optional entry, all its values are missing; if td lacks its mask, none are.
// Load returns the errors of [tdict.Schema.Check] of Schema, ragged.ErrLengths if columns of a list
// of objects or masks have other lengths, and [ErrValue] for a code without a text and a time that
// does not read back equal from its layout. On an error t has no rows.
func (t *Table) Load(td *tdict.TensorDict) error {
	t.Reset()
	err := t.schema.Check(td)
	if err == nil && len(td.Shape()) != 1 {
		err = fmt.Errorf("%w: got a dictionary of shape %v, want one batch dim", shapeops.ErrDim, td.Shape())
	}
	if err == nil {
		err = t.load(td)
	}
	if err != nil {
		t.Reset()
	}
	return err
}

// load loads the entries of td, then the entries that td lacks, then the masks.
func (t *Table) load(td *tdict.TensorDict) error {
	failed := func(key nestedkey.Key, err error) error { return &tdict.KeyError{Op: "write", Key: key, Err: err} }
	for _, c := range t.columns {
		if td.Has(c.Spec.Key) {
			if err := c.load(td); err != nil {
				return failed(c.Spec.Key, err)
			}
		}
	}
	rows := td.Shape()[0]
	for _, d := range t.dicts {
		d.lack(rows)
	}
	for _, c := range t.columns {
		if !td.Has(c.Spec.Key) {
			c.lack(rows)
		}
	}
	for _, m := range t.masks {
		if err := m.load(td, td.Has(m.of.Spec.Key) || m.depth > m.of.outer); err != nil {
			return failed(m.key, err)
		}
	}
	for _, c := range t.columns {
		if err := c.checkSpelled(); err != nil {
			return failed(c.Spec.Key, err)
		}
	}
	return nil
}

// lack loads empty lists for the levels of e that are not loaded.
func (e *Entry) lack(rows int) {
	for i, l := range e.Levels {
		if !l.loaded {
			for range e.at(i).count(rows) {
				l.End(0)
			}
			l.loaded = true
		}
	}
}

// lack loads missing values.
func (c *Column) lack(rows int) {
	c.Entry.lack(rows)
	n := c.at(len(c.Levels)).count(rows) * c.valueSize()
	if !c.deep() {
		n = rows * c.Width
	}
	for range n {
		c.zero()
	}
}

func (c *Column) load(td *tdict.TensorDict) error {
	v, err := td.Get(c.Spec.Key)
	if err != nil {
		return err
	}
	return c.loadValue(v)
}

func (c *Column) loadValue(v tdict.Value) (err error) {
	values, ok := v.(*tensor.Tensor)
	if r, isRagged := v.(*ragged.Tensor); isRagged {
		if values, err = c.loadLevels(r); err != nil {
			return err
		}
	} else if !ok {
		return fmt.Errorf("%w: got %T", tdict.ErrKind, v)
	}
	return c.loadElements(values)
}

// loadLevels loads the levels of a ragged tensor, or of texts, and returns its values.
func (c *Column) loadLevels(v *ragged.Tensor) (*tensor.Tensor, error) {
	values, err := v.Values()
	if err != nil {
		return nil, err
	}
	layout := v.Layout().Compact()
	levels := c.Levels
	if c.texts != nil {
		levels = append(levels[:len(levels):len(levels)], c.texts)
	}
	for i, l := range levels {
		if err := l.load(layout, i+1); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// loadElements replaces the elements by copies of v's.
func (c *Column) loadElements(v *tensor.Tensor) error {
	n := v.Size() * c.elem.Size
	c.data = slices.Grow(c.data[:0], n)[:n]
	own, err := c.tensor(v.Shape())
	if err != nil {
		return err
	}
	return own.CopyFrom(v)
}

// checkSpelled returns ErrValue for a code without a text, and for a time that does not read back
// equal.
func (c *Column) checkSpelled() error {
	if c.time == nil && c.codes == nil {
		return nil
	}
	b := make([]byte, 0, 64)
	for i := range c.size() {
		if !c.present(i) {
			continue
		}
		if c.codes != nil {
			if code := c.code(i); code >= uint64(len(c.codes)) {
				return fmt.Errorf("value %d: %w: got code %s, want %s", i, ErrValue, c.elem.Append(nil, c.data[i*c.elem.Size:]), c.describe())
			}
			continue
		}
		if !c.time.readsBack(b[:0], c.units(i)) {
			return fmt.Errorf("value %d: %w: got %d in units of %v, want a time that reads back from a text as %q", i, ErrValue, c.units(i), c.time.unit, c.time.layout)
		}
	}
	return nil
}

// Present reports whether value i of a column without levels is not missing.
func (c *Column) Present(i int) bool { return c.each.Present(i) }

// present reports whether element or text i is not missing.
func (c *Column) present(i int) bool {
	if c.deep() {
		return c.Mask(len(c.Levels)).Present(i / c.valueSize())
	}
	return c.each.Present(i)
}

// Text appends the text of value i: the fewest digits that read back as the same element, or the
// bytes of a text, a category or a time.
func (c *Column) Text(b []byte, i int) []byte {
	if c.texts != nil {
		return append(b, c.bytes(i)...)
	}
	if c.time != nil {
		return c.time.append(b, c.units(i))
	}
	if c.codes != nil {
		return append(b, c.Spec.Categories[c.code(i)]...)
	}
	from := len(b)
	b = c.elem.AppendFewest(b, c.data[i*c.elem.Size:])
	if c.elem.Kind != elemtext.Float {
		return b
	}
	if c.Spec.Bare {
		return b
	}
	for _, x := range b[from:] {
		if x != '-' && (x < '0' || x > '9') { // a point, an exponent, NaN or Inf
			return b
		}
	}
	return append(b, ".0"...) // it would read back as an integer
}

// units returns element i of a column of times.
func (c *Column) units(i int) int64 { return int64(binary.NativeEndian.Uint64(c.data[8*i:])) }

// code returns element i of a column of categories. A negative one is larger than each code.
func (c *Column) code(i int) uint64 {
	switch data := c.data[i*c.elem.Size:]; c.elem.Size {
	case 1:
		return uint64(data[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(data))
	case 4:
		return uint64(binary.NativeEndian.Uint32(data))
	default:
		return binary.NativeEndian.Uint64(data)
	}
}
