package rowsort

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Key stands for the values of a row: keys compare as the values do.
type Key []byte

// The first byte of each value in a key.
const (
	isPresent = 0
	isMissing = 1
)

// A column appends the values of one column of some rows to keys.
type column struct {
	descending bool
	mask       []bool // or nil
	numbers    []uint64
	width      int // bytes of a number, or 0 for text
	texts      []string
}

// columnsOf reads the columns under keys of td, [n].
func columnsOf(td *tdict.TensorDict, says tdict.Schema, keys []nestedkey.Key, opt Options) (all []column, err error) {
	for _, key := range keys {
		c, err := columnOf(td, says, key, opt.Texts)
		if err != nil {
			return nil, &tdict.KeyError{Op: "order", Key: key, Err: err}
		}
		c.descending = opt.Descending
		all = append(all, c)
	}
	return all, nil
}

// columnOf reads the column under a key. With asTexts, codes become the texts of their Categories.
func columnOf(td *tdict.TensorDict, says tdict.Schema, key nestedkey.Key, asTexts bool) (c column, err error) {
	v, err := td.Get(key)
	if err != nil {
		return c, err
	}
	mask, err := says.MaskOf(td, key)
	if err != nil {
		return c, err
	}
	if bits, ok := mask.(*tensor.Tensor); ok && bits != nil {
		flat, err := oneColumn(bits)
		if err == nil {
			err = tensor.Read(flat, func(present []bool) { c.mask = append(c.mask, present...) })
		}
		if err != nil {
			return c, err
		}
	}
	switch v := v.(type) {
	case *ragged.Tensor:
		c.texts, err = ragged.Strings(v)
		return c, err
	case *tensor.Tensor:
		spec, _ := says.Find(key)
		if asTexts && spec.Categories != nil {
			return c, c.name(v, spec.Categories)
		}
		return c, c.read(v)
	}
	return c, fmt.Errorf("%w: want a tensor or text", tdict.ErrKind)
}

// oneColumn returns a tensor [n] or [n 1] as [n].
func oneColumn(t *tensor.Tensor) (*tensor.Tensor, error) {
	n := t.Shape()[0]
	if t.Size() != n {
		return nil, fmt.Errorf("%w: got %v, want one value for each row", shapeops.ErrShape, t.Shape())
	}
	return t.Reshape(n)
}

// read reads numbers as unsigned integers of the same order.
func (c *column) read(t *tensor.Tensor) (err error) {
	if t, err = oneColumn(t); err != nil {
		return err
	}
	c.width = 8
	switch d := t.DType(); {
	case d == tensor.Bool:
		c.width = 1
		return tensor.Read(t, func(v []bool) {
			for _, x := range v {
				c.numbers = append(c.numbers, map[bool]uint64{true: 1}[x])
			}
		})
	case d == tensor.Uint64:
		return tensor.Read(t, func(v []uint64) { c.numbers = append(c.numbers, v...) })
	case d.IsInteger():
		if t, err = t.Cast(tensor.Int64); err != nil {
			return err
		}
		return tensor.Read(t, func(v []int64) {
			for _, x := range v {
				c.numbers = append(c.numbers, uint64(x)^1<<63)
			}
		})
	case d.IsFloat():
		if t, err = t.Cast(tensor.Float64); err != nil {
			return err
		}
		return tensor.Read(t, func(v []float64) {
			for _, x := range v {
				c.numbers = append(c.numbers, orderedFloat(x))
			}
		})
	}
	return fmt.Errorf("%w: got %v, want integers, floats, bools or text", tensor.ErrDType, t.DType())
}

// name reads codes as the texts for which they stand.
func (c *column) name(t *tensor.Tensor, categories []string) error {
	t, err := oneColumn(t)
	if err == nil {
		t, err = t.Cast(tensor.Int64) // a code beyond int64 becomes negative
	}
	if err != nil {
		return err
	}
	c.texts = make([]string, t.Size())
	wrong := error(nil)
	err = tensor.Read(t, func(codes []int64) {
		for i, code := range codes {
			switch {
			case c.mask != nil && !c.mask[i]:
			case code >= 0 && code < int64(len(categories)):
				c.texts[i] = categories[code]
			default:
				wrong = fmt.Errorf("%w: got code %d of %d categories", shapeops.ErrIndex, code, len(categories))
			}
		}
	})
	return cmp.Or(err, wrong)
}

// orderedFloat returns an integer for a number: integers compare as the numbers do, NaN is last,
// and both zeros are equal.
func orderedFloat(x float64) uint64 {
	switch {
	case math.IsNaN(x):
		return math.MaxUint64
	case x == 0:
		return 1 << 63
	case x < 0:
		return ^math.Float64bits(x)
	}
	return math.Float64bits(x) | 1<<63
}

// append appends the value of row i.
func (c *column) append(b []byte, i int) []byte {
	if c.mask != nil && !c.mask[i] {
		return append(b, isMissing)
	}
	b = append(b, isPresent)
	from := len(b)
	switch c.width {
	case 0:
		for _, x := range []byte(c.texts[i]) {
			if b = append(b, x); x == 0 {
				b = append(b, 0xff)
			}
		}
		b = append(b, 0, 0)
	case 1:
		b = append(b, byte(c.numbers[i]))
	default:
		b = binary.BigEndian.AppendUint64(b, c.numbers[i])
	}
	if c.descending {
		for j := range b[from:] {
			b[from+j] = ^b[from+j]
		}
	}
	return b
}
