package tensorclass

import (
	"fmt"
	"reflect"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A reader reads rows of a dictionary.
type reader struct {
	*plan
	op      string
	n       int // rows
	columns []reading
}

// A reading is a field and its column. The column is empty if td lacks the entry.
type reading struct {
	*field
	source          // for a dense field, a mask, or the values of a ragged column
	offsets []int64 // for a ragged column
	data    *tdict.Data
	sub     *reader // for masked: reads the values that pointers point to
}

// open returns a reader of td.
func (p *plan) open(op string, td *tdict.TensorDict) (*reader, error) {
	r := &reader{plan: p, op: op, n: td.Shape()[0]}
	for i := range p.fields {
		f := &p.fields[i]
		spec := f.spec
		if f.role == masked {
			spec = f.maskSpec()
		}
		v, err := p.find(op, td, f, &spec)
		c := reading{field: f}
		if err == nil {
			err = c.open(op, td, v)
		}
		if err != nil {
			return nil, p.fail(op, f, err)
		}
		r.columns = append(r.columns, c)
	}
	return r, nil
}

// open prepares reading the entry v of td.
func (c *reading) open(op string, td *tdict.TensorDict, v tdict.Value) (err error) {
	col, _ := v.(*tensor.Tensor)
	c.data, _ = v.(*tdict.Data)
	if r, ok := v.(*ragged.Tensor); ok {
		if col, err = r.Values(); err == nil {
			c.offsets, err = r.Layout().Offsets(1)
		}
	}
	if err == nil && col != nil {
		c.source, err = newSource(col, c.width(), c.unit)
	}
	if err == nil && c.role == masked {
		c.sub, err = c.field.sub.open(op, td)
	}
	return err
}

// read fills the slice rows with rows of td, beginning at row lo.
func (r *reader) read(lo int, rows reflect.Value) error {
	size, all := int(r.typ.Size()), memory(rows)
	for at := 0; at < rows.Len(); at += r.blockRows() {
		n := min(r.blockRows(), rows.Len()-at)
		for i := range r.columns {
			c := &r.columns[i]
			var err error
			if c.role == dense && c.col != nil {
				var col []byte
				if col, err = c.rows(lo+at, n); err == nil {
					c.move(all[at*size+c.offset:], col, size, c.size, n)
				}
			} else {
				err = c.read(lo+at, rows.Slice(at, at+n))
			}
			if err != nil {
				return r.fail(r.op, c.field, err)
			}
		}
	}
	return nil
}

// read fills the field of rows, beginning at row lo of the column. The field is not dense, or has
// no column.
func (c *reading) read(lo int, rows reflect.Value) error {
	for i := range rows.Len() {
		c.in(rows.Index(i)).SetZero()
	}
	switch {
	case c.data != nil:
		for i := range rows.Len() {
			v, err := c.data.At(lo + i)
			if err == nil {
				err = fromData(v, c.in(rows.Index(i)))
			}
			if err != nil {
				return fmt.Errorf("row %d: %w", lo+i, err)
			}
		}
	case c.sub != nil:
		return c.readMasked(lo, rows)
	case c.offsets != nil:
		return c.readRagged(lo, rows)
	}
	return nil
}

// readRagged fills the field with parts of one string or one slice.
func (c *reading) readRagged(lo int, rows reflect.Value) error {
	offsets := c.offsets[lo : lo+rows.Len()+1]
	first, n := int(offsets[0]), int(offsets[rows.Len()]-offsets[0])
	b, err := c.rows(first, n)
	if err != nil {
		return err
	}
	var all string
	var values reflect.Value
	if c.role == text {
		all = string(b)
	} else {
		values = reflect.MakeSlice(c.typ, n, n)
		copy(memory(values), b)
	}
	for i := range rows.Len() {
		from, end := int(offsets[i])-first, int(offsets[i+1])-first
		switch to := c.in(rows.Index(i)); {
		case c.role == text:
			to.SetString(all[from:end])
		case from < end:
			to.Set(values.Slice3(from, end, end))
		}
	}
	return nil
}

// readMasked sets the field to pointers to new values where the mask is true.
func (c *reading) readMasked(lo int, rows reflect.Value) error {
	n := rows.Len()
	values := reflect.MakeSlice(reflect.SliceOf(c.sub.typ), n, n)
	if err := c.sub.read(lo, values); err != nil {
		return err
	}
	present, err := c.rows(lo, n)
	for i, p := range present {
		if p == 1 {
			c.in(rows.Index(i)).Set(values.Index(i).Addr())
		}
	}
	return err
}
