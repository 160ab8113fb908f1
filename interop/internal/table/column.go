package table

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/elemtext"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/nestedkey"
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
	// Spec is the entry in the schema.
	Spec tdict.Spec
	// Width is the number of elements in Spec.Shape: the number of values in a row or, for a ragged
	// tensor, of elements in a value.
	Width int

	elem    *elemtext.Elem
	data    []byte    // the elements, or the bytes of texts
	offsets [][]int64 // offsets of each level; texts have one level
	lent    bool      // a ragged.Layout shares the offsets
	mask    []bool    // or nil
	fill    []byte    // the text of a missing value, or nil

	numbers []int32 // codes of categories
	codes   *ragged.TextCodes
	time    *Time
}

// Missable reports whether a value of c may be missing.
func (c *Column) Missable() bool { return c.mask != nil || c.fill != nil }

// Append appends a value: an element, or a text. It does not keep text. It returns [ErrValue] if
// the value does not fit; then nothing has changed.
func (c *Column) Append(text []byte) error {
	if c.Spec.Kind == tdict.KindText {
		c.data = append(c.data, text...)
		c.offsets[0] = append(c.offsets[0], int64(len(c.data)))
	} else if err := c.parse(text); err != nil {
		return err
	}
	if c.mask != nil && c.Spec.Kind != tdict.KindRagged {
		c.mask = append(c.mask, true)
	}
	return nil
}

// parse appends an element.
func (c *Column) parse(text []byte) error {
	if c.time != nil {
		n, err := c.time.parse(text)
		if err == nil {
			c.data = binary.NativeEndian.AppendUint64(c.data, uint64(n))
		}
		return err
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

// AppendMissing appends a missing value or, for a ragged tensor, a missing row. It returns
// [ErrValue] if c is not Missable.
func (c *Column) AppendMissing() error {
	switch {
	case !c.Missable():
		return fmt.Errorf("%w: got none, want %v: make the entry Optional, or set Fill", ErrValue, c.describe())
	case c.Spec.Kind == tdict.KindRagged:
		if err := c.EndList(1); err != nil {
			return err
		}
	case c.fill != nil || c.Spec.Kind == tdict.KindText:
		if err := c.Append(c.fill); err != nil {
			return err
		}
	default:
		c.data = append(c.data, make([]byte, c.elem.Size)...)
		if c.mask != nil {
			c.mask = append(c.mask, true)
		}
	}
	if c.mask != nil {
		c.mask[len(c.mask)-1] = false
	}
	return nil
}

// EndList ends a list of a ragged tensor: the row itself at level 1, a list of values at level
// Depth. It returns [ErrValue] if the elements since the last list are not whole values.
func (c *Column) EndList(level int) error {
	n := c.size() / c.Width
	switch {
	case level < len(c.offsets):
		n = len(c.offsets[level]) - 1
	case n*c.Width != c.size():
		return fmt.Errorf("%w: got %d elements, want values of %d", ErrValue, c.size(), c.Width)
	}
	c.offsets[level-1] = append(c.offsets[level-1], int64(n))
	if level == 1 && c.mask != nil {
		c.mask = append(c.mask, true)
	}
	return nil
}

// describe describes the type of c's values, for errors.
func (c *Column) describe() string {
	switch {
	case c.Spec.Kind == tdict.KindText:
		return "a text"
	case c.time != nil:
		return fmt.Sprintf("a time as %q", c.time.Layout)
	}
	return c.Spec.DType.String()
}

// maskKey returns the key of the mask.
func (c *Column) maskKey() nestedkey.Key { return maskKey(c.Spec.Key) }

func maskKey(key nestedkey.Key) nestedkey.Key { return key + "_mask" }

// maskShape returns the shape of the mask in a dictionary of rows.
func (c *Column) maskShape(rows int) shapeops.Shape {
	if c.Spec.Kind == tdict.KindRagged {
		return shapeops.Shape{rows}
	}
	return c.shape(rows)
}

// shape returns the shape of the values in a dictionary of rows.
func (c *Column) shape(rows int) shapeops.Shape { return append(shapeops.Shape{rows}, c.Spec.Shape...) }

func (c *Column) reset() {
	c.data = c.data[:0]
	for i, old := range c.offsets {
		if c.offsets[i] = old[:0]; c.lent { // clones share the layout too
			c.offsets[i] = make([]int64, 0, cap(old))
		}
		c.offsets[i] = append(c.offsets[i], 0)
	}
	c.lent = false
	c.mask, c.numbers = c.mask[:0], c.numbers[:0]
}

// value returns the values of all rows, which share c's memory.
func (c *Column) value(rows int) (tdict.Value, error) {
	switch {
	case c.codes != nil:
		return c.coded(rows)
	case c.Spec.Kind == tdict.KindText:
		return c.levels(c.shape(rows), nil)
	case c.Spec.Kind == tdict.KindRagged:
		return c.levels(shapeops.Shape{rows}, c.Spec.Shape)
	}
	return c.tensor(c.shape(rows))
}

// tensor returns the elements, which share c's memory.
func (c *Column) tensor(shape shapeops.Shape) (*tensor.Tensor, error) {
	return tensor.FromBytes(cmp.Or(c.Spec.DType, tensor.Uint8), c.data, shape...)
}

// levels returns a ragged tensor.
func (c *Column) levels(batch, features shapeops.Shape) (*ragged.Tensor, error) {
	c.lent = true
	layout, err := ragged.NewLayout(batch, c.offsets...)
	if err != nil {
		return nil, err
	}
	values, err := c.tensor(append(shapeops.Shape{c.size() / max(1, features.Size())}, features...))
	if err != nil {
		return nil, err
	}
	return ragged.New(values, layout)
}

// coded returns the codes of the texts; new texts get new codes. A missing text is an empty text.
func (c *Column) coded(rows int) (*tensor.Tensor, error) {
	c.numbers = c.numbers[:0]
	for i := range len(c.offsets[0]) - 1 {
		code, err := c.codes.Code(c.bytes(i))
		if err != nil {
			return nil, err
		}
		c.numbers = append(c.numbers, code)
	}
	return tensor.From(c.numbers, c.shape(rows)...)
}

// bytes returns text i.
func (c *Column) bytes(i int) []byte { return c.data[c.offsets[0][i]:c.offsets[0][i+1]] }
