package tensorclass

import (
	"fmt"
	"reflect"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// open begins to read an entry of td.
func (c *reading) open(op string, td *tdict.TensorDict, v tdict.Value) (err error) {
	switch v := v.(type) {
	case *tensor.Tensor:
		if c.role == masked {
			if c.sub, err = c.field.sub.open(op, td); err == nil {
				c.source, err = newSource(v, 1, 1)
			}
			return err
		}
		c.source, err = newSource(v, c.width(), c.unit)
	case *ragged.Tensor:
		if c.values, err = v.Values(); err == nil {
			c.offsets, err = v.Layout().Offsets(1)
		}
	case *tdict.Data:
		c.data = v
	}
	return err
}

// read fills a slice with the rows from lo on.
func (r *reader) read(lo int, rows reflect.Value) error {
	n, block, size := rows.Len(), r.blockRows(), int(r.typ.Size())
	all := memory(rows)
	for at := 0; at < n; at += block {
		m := min(block, n-at)
		for i := range r.columns {
			c := &r.columns[i]
			var err error
			if c.role == dense {
				err = c.readDense(lo+at, all[at*size:], size, m)
			} else {
				err = c.readEach(lo+at, rows.Slice(at, at+m))
			}
			if err != nil {
				return within(r.op, c.field, err)
			}
		}
		for _, f := range r.missing {
			f.clear(rows.Slice(at, at+m))
		}
	}
	return nil
}

// clear makes the field of rows zero.
func (f *field) clear(rows reflect.Value) {
	for i := range rows.Len() {
		f.in(rows.Index(i)).SetZero()
	}
}

// readDense fills the field of n rows, whose bytes are given, with the rows from lo on.
func (c *reading) readDense(lo int, rows []byte, size, n int) error {
	col, err := c.rows(lo, n)
	if err != nil {
		return err
	}
	c.scatter(rows, col, size)
	return nil
}

// readEach fills the field of rows, one by one.
func (c *reading) readEach(lo int, rows reflect.Value) error {
	c.clear(rows)
	switch c.role {
	case data:
		return c.readData(lo, rows)
	case masked:
		return c.readMasked(lo, rows)
	}
	return c.readRagged(lo, rows)
}

// readRagged fills the field with parts of one text, or of one slice.
func (c *reading) readRagged(lo int, rows reflect.Value) error {
	n := rows.Len()
	first, last := int(c.offsets[lo]), int(c.offsets[lo+n])
	typ := c.typ
	if c.role == text {
		typ = reflect.TypeFor[[]byte]()
	}
	values := reflect.MakeSlice(typ, last-first, last-first)
	if err := c.copyValues(memory(values), first, last); err != nil {
		return err
	}
	var all string
	if c.role == text {
		all = string(values.Bytes())
	}
	for i := range n {
		a, b := int(c.offsets[lo+i])-first, int(c.offsets[lo+i+1])-first
		switch to := c.in(rows.Index(i)); {
		case c.role == text:
			to.SetString(all[a:b])
		case a < b:
			to.Set(values.Slice3(a, b, b))
		}
	}
	return nil
}

// copyValues copies values of a ragged column to bytes.
func (c *reading) copyValues(to []byte, first, last int) error {
	from, err := c.values.Narrow(0, first, last-first)
	if err != nil {
		return err
	}
	dst, err := tensor.FromBytes(from.DType(), to, from.Shape()...)
	if err == nil {
		err = dst.CopyFrom(from)
	}
	if err == nil && from.DType() == tensor.Bool {
		err = tensor.CheckBools(to)
	}
	return err
}

func (c *reading) readData(lo int, rows reflect.Value) error {
	for i := range rows.Len() {
		v, err := c.data.At(lo + i)
		if err == nil {
			err = fromData(v, c.in(rows.Index(i)))
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", lo+i, err)
		}
	}
	return nil
}

// readMasked points the field to values of their own where the mask is true.
func (c *reading) readMasked(lo int, rows reflect.Value) error {
	n := rows.Len()
	present, err := c.rows(lo, n)
	if err != nil {
		return err
	}
	values := reflect.MakeSlice(reflect.SliceOf(c.sub.typ), n, n)
	if err := c.sub.read(lo, values); err != nil {
		return err
	}
	for i, p := range present {
		if p == 1 {
			c.in(rows.Index(i)).Set(values.Index(i).Addr())
		}
	}
	return nil
}
