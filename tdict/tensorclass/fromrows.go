package tensorclass

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// FromRows returns a dictionary with batch shape [len(rows)] whose rows are copies of the elements
// of rows. Keys are in the order of the fields. FromRows returns [ErrType] if T does not map to
// rows, and, in a *tdict.KeyError with the field and the row, tdict.ErrKind for a value that JSON
// or tdict.Data does not hold.
func FromRows[T any](rows []T) (*tdict.TensorDict, error) {
	p, err := planFor(reflect.TypeFor[T](), true)
	if err != nil {
		return nil, err
	}
	td := tdict.New(len(rows))
	if err := p.columns(td, reflect.ValueOf(rows)); err != nil {
		return nil, err
	}
	return td, td.SetClass(p.class)
}

// AppendRows appends rows to w, such as a *memmap.Writer with a prototype of schema [SchemaFor] of
// T. It returns the errors of [FromRows] and of w.Append.
func AppendRows[T any](w interface{ Append(*tdict.TensorDict) error }, rows []T) error {
	td, err := FromRows(rows)
	if err != nil {
		return err
	}
	return w.Append(td)
}

// SetRow writes *t to row i of td, whose batch shape is [N]. A negative i counts from the end. It
// writes elements, which views of td share. td must have all entries of T, optional ones too.
// SetRow returns the errors of [Row], [FromRows] and tdict.TensorDict.SetIndex; on an error td has
// not changed.
func SetRow[T any](td *tdict.TensorDict, i int, t *T) error {
	_, i, err := openRow("set row", td, i, t)
	if err != nil {
		return err
	}
	row, err := FromRows([]T{*t})
	if err != nil {
		return err
	}
	return td.SetIndex(row, ix.Range(i, i+1))
}

// columns sets the columns of rows in td.
func (p *plan) columns(td *tdict.TensorDict, rows reflect.Value) error {
	cols := p.denseColumns(rows)
	for i := range p.fields {
		f, key := &p.fields[i], p.fields[i].spec.Key
		var v tdict.Value
		var err error
		switch f.role {
		case dense:
			v, err = tensor.FromBytes(f.spec.DType, cols[i], append([]int{rows.Len()}, f.spec.Shape...)...)
		case data:
			v, err = f.dataColumn(rows)
		case masked:
			key = f.mask
			v, err = f.maskedColumns(td, rows)
		default:
			v, err = f.raggedColumn(rows)
		}
		if err == nil {
			err = td.Set(key, v)
		}
		if err != nil {
			return p.fail("from rows", f, err)
		}
	}
	return nil
}

// denseColumns returns the bytes of the columns of dense fields, by the index of the field.
func (p *plan) denseColumns(rows reflect.Value) [][]byte {
	n, size, block, all := rows.Len(), int(p.typ.Size()), p.blockRows(), memory(rows)
	cols := make([][]byte, len(p.fields))
	for lo := 0; lo < n; lo += block {
		for i := range p.fields {
			f := &p.fields[i]
			if f.role != dense {
				continue
			}
			if lo == 0 {
				cols[i] = cast.Uninit(n * f.width())
			}
			f.move(cols[i][lo*f.width():], all[lo*size+f.offset:], f.width(), size, min(block, n-lo))
		}
	}
	return cols
}

// raggedColumn returns the column of a string or slice field.
func (f *field) raggedColumn(rows reflect.Value) (tdict.Value, error) {
	offsets := make([]int64, rows.Len()+1)
	var b []byte
	for i := range rows.Len() {
		v := f.in(rows.Index(i))
		offsets[i+1] = offsets[i] + int64(v.Len())
		b = append(b, cast.Memory(v.UnsafePointer(), v.Len()*f.width())...)
	}
	d := f.spec.DType
	if f.role == text {
		d = tensor.Uint8
	}
	values, err := tensor.FromBytes(d, b, append([]int{int(offsets[rows.Len()])}, f.spec.Shape...)...)
	l, failed := ragged.NewLayout(shapeops.Shape{rows.Len()}, offsets)
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	return ragged.New(values, l)
}

// dataColumn returns the column of a field that becomes Data.
func (f *field) dataColumn(rows reflect.Value) (tdict.Value, error) {
	values := make([]any, rows.Len())
	for i := range values {
		var err error
		if values[i], err = toData(f.in(rows.Index(i))); err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
	}
	return tdict.DataFrom(values, len(values))
}

// maskedColumns sets the columns of the values that pointers point to in td, zero for nil, and
// returns their mask.
func (f *field) maskedColumns(td *tdict.TensorDict, rows reflect.Value) (tdict.Value, error) {
	present := make([]bool, rows.Len())
	values := reflect.MakeSlice(reflect.SliceOf(f.sub.typ), len(present), len(present))
	for i := range present {
		if v := f.in(rows.Index(i)); !v.IsNil() {
			present[i] = true
			values.Index(i).Set(v.Elem())
		}
	}
	return tensor.Vector(present...), f.sub.columns(td, values)
}
