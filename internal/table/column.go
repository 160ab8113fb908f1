package table

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Column holds the values of one entry.
type Column struct {
	// Spec is the entry in the schema.
	Spec tdict.Spec
	// Width is the number of elements in Spec.Shape: the number of values in a row or, for a ragged
	// tensor, of elements in a value.
	Width int

	cells   cells     // the elements, or the bytes of texts
	offsets [][]int64 // offsets of each level; texts have one level
	lent    bool      // a ragged.Layout shares the offsets
	mask    *cellsAs[bool]
	fill    []byte // the text of a missing value, or nil

	numbers *cellsAs[int32] // codes of categories
	codes   *ragged.TextCodes
	time    *Time
}

// Missable reports whether a value of c may be missing.
func (c *Column) Missable() bool { return c.mask != nil || c.fill != nil }

// Append appends a value: an element, or a text. It does not keep text. It returns [ErrValue] if
// the value does not fit; then nothing has changed.
func (c *Column) Append(text []byte) error {
	if c.Spec.Kind == tdict.KindText {
		bytes := c.cells.(*cellsAs[uint8])
		bytes.values = append(bytes.values, text...)
		c.offsets[0] = append(c.offsets[0], int64(len(bytes.values)))
	} else if err := c.cells.parse(text); err != nil {
		return err
	}
	if c.mask != nil && c.Spec.Kind != tdict.KindRagged {
		c.mask.values = append(c.mask.values, true)
	}
	return nil
}

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
		c.cells.zero()
		if c.mask != nil {
			c.mask.values = append(c.mask.values, true)
		}
	}
	if c.mask != nil {
		c.mask.values[len(c.mask.values)-1] = false
	}
	return nil
}

// EndList ends a list of a ragged tensor: the row itself at level 1, a list of values at level
// Depth. It returns [ErrValue] if the elements since the last list are not whole values.
func (c *Column) EndList(level int) error {
	n := c.cells.len() / c.Width
	switch {
	case level < len(c.offsets):
		n = len(c.offsets[level]) - 1
	case n*c.Width != c.cells.len():
		return fmt.Errorf("%w: got %d elements, want values of %d", ErrValue, c.cells.len(), c.Width)
	}
	c.offsets[level-1] = append(c.offsets[level-1], int64(n))
	if level == 1 && c.mask != nil {
		c.mask.values = append(c.mask.values, true)
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
	c.cells.reset()
	for i, old := range c.offsets {
		if c.offsets[i] = old[:0]; c.lent { // clones share the layout too
			c.offsets[i] = make([]int64, 0, cap(old))
		}
		c.offsets[i] = append(c.offsets[i], 0)
	}
	c.lent = false
	if c.mask != nil {
		c.mask.reset()
	}
	if c.numbers != nil {
		c.numbers.reset()
	}
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
	return c.cells.tensor(c.shape(rows))
}

// levels returns a ragged tensor.
func (c *Column) levels(batch, features shapeops.Shape) (*ragged.Tensor, error) {
	c.lent = true
	layout, err := ragged.NewLayout(batch, c.offsets...)
	if err != nil {
		return nil, err
	}
	values, err := c.cells.tensor(append(shapeops.Shape{c.cells.len() / max(1, features.Size())}, features...))
	if err != nil {
		return nil, err
	}
	return ragged.New(values, layout)
}

// coded returns the codes of the texts; new texts get new codes. A missing text is an empty text.
func (c *Column) coded(rows int) (*tensor.Tensor, error) {
	c.numbers.reset()
	for i := range len(c.offsets[0]) - 1 {
		code, err := c.codes.Code(c.bytes(i))
		if err != nil {
			return nil, err
		}
		c.numbers.values = append(c.numbers.values, code)
	}
	return c.numbers.tensor(c.shape(rows))
}

// bytes returns text i.
func (c *Column) bytes(i int) []byte {
	return c.cells.(*cellsAs[uint8]).values[c.offsets[0][i]:c.offsets[0][i+1]]
}
