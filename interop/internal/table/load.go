package table

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/elemtext"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Load replaces the rows of t by copies of the rows of td, [n]. [Column.Text] then appends their
// texts. If td lacks an Optional entry, all its values are missing; if td lacks its mask, none are.
// Load returns the errors of [tdict.Schema.Check] of Schema, shapeops.ErrIndex for a code without a
// text, and [ErrValue] for a time that does not read back equal from its layout. On an error t has
// no rows.
func (t *Table) Load(td *tdict.TensorDict) error {
	t.Reset()
	err := t.schema.Check(td)
	if err == nil && len(td.Shape()) != 1 {
		err = fmt.Errorf("%w: got a dictionary of shape %v, want one batch dim", shapeops.ErrDim, td.Shape())
	}
	for i := 0; err == nil && i < len(t.columns); i++ {
		if err = t.columns[i].load(td); err != nil {
			err = &tdict.KeyError{Op: "write", Key: t.columns[i].Spec.Key, Err: err}
		}
	}
	if err != nil {
		t.Reset()
	}
	return err
}

// load loads the entry of c and its mask.
func (c *Column) load(td *tdict.TensorDict) error {
	if !td.Has(c.Spec.Key) {
		for range c.maskShape(td.Shape()[0]).Size() {
			if err := c.AppendMissing(); err != nil {
				return err
			}
		}
		return nil
	}
	if err := c.loadMask(td); err != nil {
		return err
	}
	v, err := td.Get(c.Spec.Key)
	if err != nil {
		return err
	}
	return c.loadValue(v)
}

// loadMask loads the mask. If td has none, all values are present.
func (c *Column) loadMask(td *tdict.TensorDict) error {
	if c.mask == nil {
		return nil
	}
	if td.Has(c.maskKey()) {
		mask, err := td.Tensor(c.maskKey())
		if err != nil {
			return err
		}
		return tensor.Read(mask, func(present []bool) { c.mask = append(c.mask[:0], present...) })
	}
	for range c.maskShape(td.Shape()[0]).Size() {
		c.mask = append(c.mask, true)
	}
	return nil
}

func (c *Column) loadValue(v tdict.Value) error {
	err := fmt.Errorf("%w: got %T", tdict.ErrKind, v)
	switch v := v.(type) {
	case *ragged.Tensor:
		err = c.loadLevels(v)
	case *tensor.Tensor:
		if c.codes != nil {
			return c.loadCodes(v)
		}
		err = c.loadElements(v)
	}
	if err != nil || c.time == nil {
		return err
	}
	return c.checkTimes()
}

// loadLevels loads a ragged tensor, or texts.
func (c *Column) loadLevels(v *ragged.Tensor) error {
	values, err := v.Values()
	if err != nil {
		return err
	}
	layout := v.Layout().Compact()
	for i := range c.offsets {
		offsets, err := layout.Offsets(i + 1)
		if err != nil {
			return err
		}
		c.offsets[i] = append(c.offsets[i][:0], offsets...)
	}
	return c.loadElements(values)
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

// loadCodes loads the texts of codes.
func (c *Column) loadCodes(v *tensor.Tensor) error {
	err := tensor.Read(v, func(codes []int32) { c.numbers = append(c.numbers[:0], codes...) })
	if err != nil {
		return err
	}
	texts := c.codes.Texts()
	for i, code := range c.numbers {
		switch {
		case !c.Present(i):
		case code < 0 || int(code) >= len(texts):
			return fmt.Errorf("value %d: %w: got code %d of %d texts", i, shapeops.ErrIndex, code, len(texts))
		default:
			c.data = append(c.data, texts[code]...)
		}
		c.offsets[0] = append(c.offsets[0], int64(len(c.data)))
	}
	return nil
}

// checkTimes returns ErrValue for a time that does not read back equal.
func (c *Column) checkTimes() error {
	var b []byte
	for i := range c.size() {
		n := c.units(i)
		if c.Spec.Kind == tdict.KindTensor && !c.Present(i) {
			continue
		}
		b = c.time.append(b[:0], n)
		if got, err := c.time.parse(b); err != nil || got != n {
			return fmt.Errorf("value %d: %w: got %d in units of %v, want a time that reads back from %q", i, ErrValue, n, c.time.Unit, b)
		}
	}
	return nil
}

// Present reports whether value i is not missing; for a ragged tensor, whether row i is not.
func (c *Column) Present(i int) bool { return c.mask == nil || c.mask[i] }

// Text appends the text of value i: the fewest digits that read back as the same element, or the
// bytes of a text.
func (c *Column) Text(b []byte, i int) []byte {
	if c.Spec.Kind == tdict.KindText {
		return append(b, c.bytes(i)...)
	}
	if c.time != nil {
		return c.time.append(b, c.units(i))
	}
	from := len(b)
	b = c.elem.AppendFewest(b, c.data[i*c.elem.Size:])
	if c.elem.Kind != elemtext.Float {
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

// List returns the range of lists of the next level, or at level Depth of values, each of Width
// elements, in list i of a level.
func (c *Column) List(level, i int) (from, to int) {
	return int(c.offsets[level-1][i]), int(c.offsets[level-1][i+1])
}
