package forms

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Columns returns td, a part of Dict, with Data as the columns that Schema lists: a text, a number
// or a bool for each row, in which nil is missing.
func (in *Input) Columns(td *tdict.TensorDict) (*tdict.TensorDict, error) {
	columns := in.dataColumns()
	if len(columns) == 0 {
		return td, nil
	}
	out := td.Copy()
	for _, spec := range in.Schema {
		key := spec.Key
		if _, is := columns[key]; !is || !td.Has(key) {
			continue
		}
		d, err := tdict.Get[*tdict.Data](td, key)
		if err != nil {
			return nil, err
		}
		var v tdict.Value
		var present []bool
		switch {
		case spec.Kind == tdict.KindText:
			var texts []string
			if texts, present, err = valuesOf[string](d); err == nil {
				v, err = ragged.FromStrings(texts)
			}
		case spec.DType == tensor.Bool:
			v, present, err = tensorOf[bool](d)
		case spec.DType == tensor.Int64:
			v, present, err = tensorOf[int64](d)
		default:
			v, present, err = tensorOf[float64](d)
		}
		if err == nil {
			err = out.Set(key, v)
		}
		if err == nil && spec.Mask != "" {
			err = out.Set(spec.Mask, tensor.Vector(present...))
		}
		if err != nil {
			return nil, &tdict.KeyError{Op: "table", Key: key, Err: err}
		}
	}
	return out, nil
}

// dataColumns returns the columns that are Data in Dict.
func (in *Input) dataColumns() map[nestedkey.Key]tdict.Spec {
	columns := map[nestedkey.Key]tdict.Spec{}
	for _, spec := range in.Schema {
		if in.Dict == nil || spec.Kind != tdict.KindText && spec.Kind != tdict.KindTensor {
			continue
		}
		if _, err := tdict.Get[*tdict.Data](in.Dict, spec.Key); err == nil {
			columns[spec.Key] = spec
		}
	}
	return columns
}

// tabular returns rows for a table, see Columns.
func (s *saver) tabular(r rows) (rows, error) {
	columns := s.first.dataColumns()
	if len(columns) == 0 {
		return r, nil
	}
	out, err := r.each(s.first.Columns)
	out.schema = nil
	for _, spec := range r.schema {
		if column, ok := columns[spec.Key]; ok {
			spec = column
		}
		out.schema = append(out.schema, spec)
	}
	return out, err
}

// columnOf returns the column that holds the values of d, if they are all of one type.
func columnOf(d *tdict.Data) (spec tdict.Spec, fits bool) {
	if len(d.Shape()) != 1 {
		return spec, false
	}
	kind := ""
	for v := range d.All() {
		one := ""
		switch v.(type) {
		case nil:
			spec.Optional = true
			continue
		case string:
			one, spec.Kind = "text", tdict.KindText
		case bool:
			one, spec.DType = "bool", tensor.Bool
		case int64:
			one, spec.DType = "int64", tensor.Int64
		case float64:
			one, spec.DType = "float64", tensor.Float64
		}
		if one == "" || kind != "" && one != kind {
			return spec, false
		}
		kind = one
	}
	return spec, kind != ""
}

// valuesOf returns the values of d, and which are not nil.
func valuesOf[T any](d *tdict.Data) (values []T, present []bool, err error) {
	for v := range d.All() {
		one, ok := v.(T)
		if !ok && v != nil {
			return nil, nil, fmt.Errorf("%w: got %T, want %T", tdict.ErrKind, v, one)
		}
		values, present = append(values, one), append(present, ok)
	}
	return values, present, nil
}

func tensorOf[T tensor.Elem](d *tdict.Data) (tdict.Value, []bool, error) {
	values, present, err := valuesOf[T](d)
	return tensor.Vector(values...), present, err
}
