package columns

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// indices reads the indices into a dictionary into c.index: -1 for a null. own is whether a row
// that was present has a null of the dictionary, which it removes from at.present.
func (r *Reader) indices(c *column, in arr, at *rows) (own bool, err error) {
	if err := r.claim(in.n, 8); err != nil {
		return false, err
	}
	dict := in.data.Dictionary().(*array.Data)
	c.index = slices.Grow(c.index[:0], in.n)[:in.n]
	b, i := bytesOf(in.data.Buffers()[1]), 0
	for _, x := range in.runs {
		for j := range x.n {
			at := -1
			if x.off >= 0 {
				at = c.leaf.form.integer(b, x.off+j)
			}
			c.index[i] = at
			i++
		}
	}
	bitmap, size := bytesOf(dict.Buffers()[0]), dict.Len()
	for i, k := range c.index {
		switch {
		case at.present != nil && !at.present[i]:
			c.index[i] = -1
		case k < 0 || k >= size:
			return false, fmt.Errorf("%w: got index %d at %d, want less than %d", shapeops.ErrIndex, k, i, size)
		case len(bitmap) > 0 && !bitutil.BitIsSet(bitmap, dict.Offset()+k):
			own, c.index[i] = true, -1
		}
	}
	if !own {
		return false, nil
	}
	present, err := r.bools(&c.leaf, in.n)
	for i := range present {
		present[i] = c.index[i] >= 0
	}
	at.present, c.leaf.nulls = present, true
	return true, err
}

// integer returns integer i of b; an integer that int does not hold is negative.
func (f form) integer(b []byte, i int) int {
	var v uint64
	switch f.width {
	case 8:
		v = uint64(b[i])
	case 16:
		v = uint64(binary.NativeEndian.Uint16(b[2*i:]))
	case 32:
		v = uint64(binary.NativeEndian.Uint32(b[4*i:]))
	default:
		v = binary.NativeEndian.Uint64(b[8*i:])
	}
	if unused := 64 - f.width; f.signed {
		return int(int64(v<<unused) >> unused)
	}
	return int(v)
}

// coded converts texts to the codes of categories. If indexed is set, the texts are a dictionary,
// and c.index has the number of the text of each element.
func (r *Reader) coded(c *column, in arr, at rows, indexed bool) error {
	data, present := in.data.(*array.Data), at.present
	if indexed {
		present = nil
	}
	if !indexed || data != c.dict || len(c.table) != in.n {
		c.dict = nil
		if err := r.codesOf(c, in, present); err != nil {
			return err
		}
		c.dict = data
	}
	n := len(c.table)
	if indexed {
		n = len(c.index)
	}
	size := c.dtype.Size()
	b, err := r.room(c, n, size)
	if err != nil {
		return err
	}
	for i := range n {
		k, code := i, 0
		if indexed {
			k = c.index[i]
		}
		if k >= 0 {
			code = c.table[k]
		}
		switch to := b[i*size:]; {
		case code < 0:
			return fmt.Errorf("value %d: %w", i, c.unknown(in, k))
		case size == 1:
			to[0] = byte(code)
		case size == 2:
			binary.NativeEndian.PutUint16(to, uint16(code))
		case size == 4:
			binary.NativeEndian.PutUint32(to, uint32(code))
		default:
			binary.NativeEndian.PutUint64(to, uint64(code))
		}
	}
	return r.set(c, at, b, nil, 0)
}

// codesOf sets c.table to the codes of texts: 0 for a null, -1 for a text that is not a category.
func (r *Reader) codesOf(c *column, in arr, present []bool) error {
	if err := r.claim(in.n, 8); err != nil {
		return err
	}
	c.table = c.table[:0]
	return r.each(c, in, present, func(text []byte) error {
		code, ok := c.codes[string(text)]
		switch {
		case text == nil:
			code = 0
		case !ok:
			code = -1
		}
		c.table = append(c.table, int(code))
		return nil
	})
}

// unknown returns the error for text i, which is not a category.
func (c *column) unknown(in arr, i int) error {
	for _, x := range in.runs {
		if i < x.n {
			text, err := c.value.text(in.data.Buffers(), x.off+i)
			if err != nil {
				return err
			}
			return fmt.Errorf("%w: got %s, want one of %d categories", tdict.ErrSchema, errtext.Quote(string(text)), len(c.codes))
		}
		i -= x.n
	}
	return nil
}

// collect adds the texts of a dictionary to c.texts.
func (r *Reader) collect(c *column, in arr) error {
	data := in.data.(*array.Data)
	if !c.value.isText() || data == c.dict {
		return nil
	}
	if c.dict = data; c.texts == nil {
		c.texts = map[string]int32{}
	}
	return r.each(c, in, nil, func(text []byte) error {
		if _, ok := c.texts[string(text)]; !ok {
			c.texts[string(text)] = int32(len(c.texts))
		}
		return nil
	})
}

// strings sets the entry of c to Data of texts, nil for a null.
func (r *Reader) strings(c *column, in arr, at rows) error {
	if err := r.claim(in.n, 32); err != nil {
		return err
	}
	values := make([]any, in.n)
	if i := 0; c.value.layout != nothing {
		err := r.each(c, in, at.present, func(text []byte) error {
			if text != nil {
				values[i] = string(text)
			}
			i++
			return r.claim(len(text), 1)
		})
		if err != nil {
			return err
		}
	}
	data, err := tdict.DataFrom(values, at.shape...)
	if err != nil {
		return err
	}
	return r.td.Set(c.spec.Key, data)
}
