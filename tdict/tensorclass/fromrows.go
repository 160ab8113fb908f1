package tensorclass

import (
	"fmt"
	"reflect"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// FromRows returns a dictionary with batch shape [len(rows)] of which each row is an element of
// rows, copied. Keys have the order of the fields. It returns [ErrType] if T does not map to rows,
// and, in a *tdict.KeyError with the field and the row, tdict.ErrKind for a value that JSON, or
// tdict.Data, does not take.
func FromRows[T any](rows []T) (*tdict.TensorDict, error) {
	p, err := rowPlan(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	td := tdict.New(len(rows))
	if err := p.columns(td, reflect.ValueOf(rows)); err != nil {
		return nil, err
	}
	return td, td.SetClass(p.class)
}

// AppendRows appends rows to w, such as a *memmap.Writer, whose prototype [SchemaFor] of T makes.
// Its errors are those of [FromRows] and of w.
func AppendRows[T any](w Appender, rows []T) error {
	td, err := FromRows(rows)
	if err != nil {
		return err
	}
	return w.Append(td)
}

// SetRow writes *t to row i of td, whose batch shape is [N]; a negative i counts from the end. It
// writes elements, which td's views share. A field for an optional entry that td lacks must be
// zero. Its errors are those of [Row], [FromRows] and tdict.TensorDict.SetIndex; on an error td is
// as it was.
func SetRow[T any](td *tdict.TensorDict, i int, t *T) error {
	r, err := open[T]("set row", td)
	if err != nil {
		return err
	}
	if i, err = r.at(i, t == nil); err != nil {
		return err
	}
	row, err := FromRows([]T{*t})
	if err != nil {
		return err
	}
	for _, f := range r.missing {
		if !f.in(reflect.ValueOf(t).Elem()).IsZero() {
			return r.plan.failed("set row", f, fmt.Errorf("%w: got a value, want zero", tdict.ErrMissing))
		}
		if err := row.Delete(f.spec.Key); err != nil {
			return err
		}
	}
	return td.SetIndex(row, ix.Range(i, i+1))
}

// columns sets the columns of rows in td.
func (p *plan) columns(td *tdict.TensorDict, rows reflect.Value) error {
	cols, err := p.denseColumns(rows)
	if err != nil {
		return err
	}
	for i := range p.fields {
		f, key := &p.fields[i], p.fields[i].spec.Key
		var v tdict.Value
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
			return within("from rows", f, err)
		}
	}
	return nil
}

// denseColumns returns the bytes of the columns of dense fields, by the number of the field.
func (p *plan) denseColumns(rows reflect.Value) ([][]byte, error) {
	n, size, block := rows.Len(), int(p.typ.Size()), p.blockRows()
	cols := make([][]byte, len(p.fields))
	for i := range p.fields {
		if f := &p.fields[i]; f.role == dense {
			cols[i] = cast.Uninit(n * f.width())
		}
	}
	all := memory(rows)
	for lo := 0; lo < n; lo += block {
		for i := range p.fields {
			if f := &p.fields[i]; f.role == dense {
				f.gather(cols[i][lo*f.width():min(lo+block, n)*f.width()], all[lo*size:], size)
			}
		}
	}
	return cols, nil
}

// raggedColumn returns the column of texts or of slices.
func (f *field) raggedColumn(rows reflect.Value) (tdict.Value, error) {
	n := rows.Len()
	offsets := make([]int64, n+1)
	for i := range n {
		offsets[i+1] = offsets[i] + int64(f.in(rows.Index(i)).Len())
	}
	l, err := ragged.NewLayout(shapeops.Shape{n}, offsets)
	if err != nil {
		return nil, err
	}
	d, width := f.spec.DType, f.width()
	if f.role == text {
		d, width = tensor.Uint8, 1
	}
	b := cast.Uninit(int(offsets[n]) * width)
	for i := range n {
		to, from := b[int(offsets[i])*width:], f.in(rows.Index(i))
		if f.role == text {
			copy(to, from.String())
		} else {
			copy(to, memory(from))
		}
	}
	values, err := tensor.FromBytes(d, b, append([]int{int(offsets[n])}, f.spec.Shape...)...)
	if err != nil {
		return nil, err
	}
	return ragged.New(values, l)
}

// dataColumn returns the column of values that become JSON.
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

// maskedColumns sets the columns of what pointers lead to in td, zeros for nil, and returns their
// mask.
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
