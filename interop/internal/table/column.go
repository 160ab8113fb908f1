package table

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/elemtext"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// ErrValue says that a text is not a value of its column.
var ErrValue = errors.New("value does not fit")

// refused returns ErrValue for a text. want describes the values of its column.
func refused(text []byte, want string, args ...any) error {
	return fmt.Errorf("%w: got %s, want "+want, append([]any{ErrValue, errtext.Quote(string(text))}, args...)...)
}

// A Column holds the values of one entry.
type Column struct {
	Entry
	// Width is the number of elements in Spec.Shape: the number of values in a row or, for a ragged
	// tensor, of elements in a value.
	Width int

	elem  *elemtext.Elem
	data  []byte // the elements, or the bytes of texts
	texts *Level // of text: its bytes
	each  *Mask  // of each value in a row, which Append extends, or nil
	fill  []byte // the text of a missing value, or nil

	codes map[string]int // of Spec.Categories, or nil
	elems []byte         // the elements of the codes
	time  *clock         // or nil
}

// deep reports whether values are in lists.
func (c *Column) deep() bool { return len(c.Levels) > 0 }

// Missable reports whether a value of c may be missing.
func (c *Column) Missable() bool { return c.Mask(c.outer) != nil || c.fill != nil }

// IsText reports whether the values of c are spelled as texts: of KindText, categories, and times.
func (c *Column) IsText() bool {
	return c.Spec.Kind == tdict.KindText || c.codes != nil || c.time != nil
}

// Append appends a value: an element, or a text. It does not keep text. It returns [ErrValue] if
// the value does not fit; then nothing has changed. If the column has levels, the caller adds to
// the masks and ends the lists.
func (c *Column) Append(text []byte) error {
	if c.texts != nil {
		c.data = append(c.data, text...)
		c.texts.offsets = append(c.texts.offsets, int64(len(c.data)))
	} else if err := c.parse(text); err != nil {
		return err
	}
	c.each.Add(true)
	return nil
}

// parse appends an element.
func (c *Column) parse(text []byte) error {
	switch {
	case c.time != nil:
		n, err := c.time.parse(text)
		if err == nil {
			c.data = binary.NativeEndian.AppendUint64(c.data, uint64(n))
		}
		return err
	case c.codes != nil:
		code, ok := c.codes[string(text)]
		if !ok {
			return refused(text, "%s", c.describe())
		}
		c.data = append(c.data, c.elems[code*c.elem.Size:(code+1)*c.elem.Size]...)
		return nil
	}
	data, ok := c.elem.Parse(c.data, text)
	if !ok {
		return refused(text, "%s", c.elem.Want)
	}
	c.data = data
	return nil
}

// size returns the number of elements.
func (c *Column) size() int { return len(c.data) / c.elem.Size }

// AppendMissing appends a missing value or, if c has levels, a missing row. It returns [ErrValue]
// if c is not Missable.
func (c *Column) AppendMissing() error {
	switch {
	case c.deep():
		return c.Missing(0)
	case !c.Missable():
		return c.none()
	}
	c.zero()
	c.each.Add(false)
	return nil
}

// Missing appends a missing list, or a missing value if depth is Depth, for a column with levels.
// It returns [ErrValue] unless c has a mask at that depth.
func (c *Column) Missing(depth int) error {
	m := c.Mask(depth)
	if m == nil {
		return c.none()
	}
	m.Add(false)
	if depth < len(c.Levels) {
		c.Levels[depth].End(0)
	} else {
		for range c.valueSize() {
			c.zero()
		}
	}
	return nil
}

// valueSize returns the number of elements or texts of a value.
func (c *Column) valueSize() int {
	if c.texts != nil {
		return 1
	}
	return c.Width
}

// none returns the error for a value that may not be missing.
func (c *Column) none() error {
	return fmt.Errorf("%w: got none, want %v: make the entry Optional, or set Fill", ErrValue, c.describe())
}

// zero appends the value in place of a missing one.
func (c *Column) zero() {
	switch {
	case c.texts != nil:
		c.data = append(c.data, c.fill...)
		c.texts.offsets = append(c.texts.offsets, int64(len(c.data)))
	case c.fill != nil:
		_ = c.parse(c.fill) // which setFill has tried
	default:
		c.data = append(c.data, make([]byte, c.elem.Size)...)
	}
}

// describe describes the type of c's values, for errors.
func (c *Column) describe() string {
	switch {
	case c.Spec.Kind == tdict.KindText:
		return "a text"
	case c.time != nil:
		return fmt.Sprintf("a time as %q", c.time.layout)
	case c.codes != nil:
		return fmt.Sprintf("one of %d categories", len(c.codes))
	}
	return c.Spec.DType.String()
}

// shape returns the shape of the values in a dictionary of rows.
func (c *Column) shape(rows int) shapeops.Shape { return append(shapeops.Shape{rows}, c.Spec.Shape...) }

// value returns the values of all rows, which share c's memory. batch is the layout of the rows.
func (c *Column) value(batch *ragged.Layout, rows int) (tdict.Value, error) {
	layout, err := layoutOf(batch, c.Levels)
	if err != nil {
		return nil, err
	}
	switch {
	case c.texts != nil:
		if !c.deep() {
			if layout, err = ragged.NewLayout(c.shape(rows)); err != nil {
				return nil, err
			}
		}
		if layout, err = c.texts.over(layout); err != nil {
			return nil, err
		}
		return c.ragged(layout, nil)
	case c.deep():
		return c.ragged(layout, c.Spec.Shape)
	}
	return c.tensor(c.shape(rows))
}

// tensor returns the elements, which share c's memory.
func (c *Column) tensor(shape shapeops.Shape) (*tensor.Tensor, error) {
	return tensor.FromBytes(cmp.Or(c.Spec.DType, tensor.Uint8), c.data, shape...)
}

// ragged returns a ragged tensor.
func (c *Column) ragged(layout *ragged.Layout, features shapeops.Shape) (*ragged.Tensor, error) {
	values, err := c.tensor(append(shapeops.Shape{c.size() / max(1, features.Size())}, features...))
	if err != nil {
		return nil, err
	}
	return ragged.New(values, layout)
}

// bytes returns text i.
func (c *Column) bytes(i int) []byte {
	from, to := c.texts.List(i)
	return c.data[from:to]
}
