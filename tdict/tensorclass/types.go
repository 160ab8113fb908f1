package tensorclass

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var (
	classType = reflect.TypeFor[Class]()
	leafType  = reflect.TypeFor[interface{ dtype() tensor.DType }]()

	columnKinds = map[reflect.Type]tdict.Kind{
		reflect.TypeFor[*tensor.Tensor]():   tdict.KindTensor,
		reflect.TypeFor[*ragged.Tensor]():   tdict.KindRagged,
		reflect.TypeFor[*tdict.Data]():      tdict.KindData,
		reflect.TypeFor[*tdict.Unbatched](): tdict.KindUnbatched,
	}
	halves = map[reflect.Type]tensor.DType{
		reflect.TypeFor[tensor.F16]():  tensor.Float16,
		reflect.TypeFor[tensor.BF16](): tensor.BFloat16,
	}
)

// classify sets the role of a field, and its spec except for the key.
func (f *field) classify(tag tag) error {
	t, kind := f.typ, f.typ.Kind()
	switch {
	case tag.data:
	case f.isColumn(tag), f.isElements(t):
		return nil
	case kind == reflect.Slice && f.isElements(t.Elem()):
		f.role, f.spec.Kind, f.spec.Depth = list, tdict.KindRagged, 1
		return nil
	case sizeless(t):
		return fmt.Errorf("got %v, whose size differs between machines, want int64 or int32", t)
	case kind == reflect.String:
		f.role, f.spec.Kind, f.unit, f.units = text, tdict.KindText, 1, 1
		return nil
	case kind == reflect.Pointer && f.mask != "":
		f.role, f.unit, f.units = masked, 1, 1 // for the mask
		return nil
	case kind == reflect.Pointer && hasEntries(t.Elem()):
		f.role, f.spec.Kind = inner, tdict.KindDict
		return nil
	case kind == reflect.Pointer:
		return fmt.Errorf("got the pointer %v, want the option data, or mask=KEY for a bool entry that is true where it is not nil", t)
	case hasEntries(t):
		f.role = nested
		return nil
	}
	f.role, f.spec = data, tdict.Spec{Kind: tdict.KindData}
	return checkJSON(t, map[reflect.Type]bool{})
}

// isColumn reports whether the field holds a value of a dictionary. If so, it sets the spec.
func (f *field) isColumn(tag tag) (ok bool) {
	if isLeaf(f.typ) {
		f.spec.DType = reflect.Zero(f.typ).Interface().(interface{ dtype() tensor.DType }).dtype()
		f.path = append(f.path, 0) // the tensor in it
	} else if f.spec.Kind, ok = columnKinds[f.typ]; !ok {
		return false
	}
	if f.spec.Shape = tag.shape; f.spec.Kind == tdict.KindRagged {
		f.spec.Depth = max(tag.depth, 1)
	}
	return true
}

// isLeaf reports whether t is a [Leaf]. A struct that embeds one is not.
func isLeaf(t reflect.Type) bool { return t.PkgPath() == classType.PkgPath() && t.Implements(leafType) }

// isElements reports whether t is a number, a bool, or an array of them. If so, it sets role, spec
// and units. A complex number is copied as two units, since the size of the struct around it need
// not be a multiple of its size. Kinds have the names of dtypes.
func (f *field) isElements(t reflect.Type) bool {
	n := 1
	for f.spec.Shape = nil; t.Kind() == reflect.Array; t = t.Elem() {
		f.spec.Shape = append(f.spec.Shape, t.Len())
		n *= t.Len()
	}
	d, ok := halves[t]
	if !ok {
		d, _ = tensor.ParseDType(t.Kind().String())
	}
	f.role, f.spec.DType, f.unit, f.units = dense, d, d.Size(), n
	if d.IsComplex() {
		f.unit, f.units = f.unit/2, 2*n
	}
	return d != 0
}

// hasEntries reports whether t is a struct whose fields are entries. A struct that has its own JSON
// and no exported fields, such as time.Time, is not.
func hasEntries(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && (!marshals(t) || slices.ContainsFunc(reflect.VisibleFields(t), reflect.StructField.IsExported))
}

// sizeless reports whether t is an int, uint or uintptr, or arrays and slices of them. A slice type
// can contain itself.
func sizeless(t reflect.Type) bool {
	for seen := map[reflect.Type]bool{}; t.Kind() == reflect.Array || t.Kind() == reflect.Slice; t = t.Elem() {
		if seen[t] {
			return false
		}
		seen[t] = true
	}
	return t.Kind() == reflect.Int || t.Kind() == reflect.Uint || t.Kind() == reflect.Uintptr
}

// marshals reports whether t has its own JSON.
func marshals(t reflect.Type) bool {
	t = reflect.PointerTo(t) // has the methods of t too
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// checkJSON returns an error unless encoding/json can marshal values of type t.
func checkJSON(t reflect.Type, seen map[reflect.Type]bool) error {
	if seen[t] || marshals(t) {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return fmt.Errorf("got %v, which JSON does not support", t)
	case reflect.Map, reflect.Pointer, reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Map && t.Key().Kind() != reflect.String {
			return fmt.Errorf("got %v, want string as the type of keys", t)
		}
		return checkJSON(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if !f.IsExported() || f.Tag.Get("json") == "-" {
				continue
			}
			if err := checkJSON(f.Type, seen); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
	}
	return nil
}

// toData converts a value, which is addressable, to a value of Data by its JSON.
func toData(v reflect.Value) (any, error) {
	text, err := json.Marshal(v.Addr().Interface()) // the pointer may have the JSON methods
	if err != nil {
		return nil, fmt.Errorf("%w: %w", tdict.ErrKind, err)
	}
	var d tdict.Data
	if err := d.UnmarshalJSON(fmt.Appendf(nil, `{"shape":[],"value":%s}`, text)); err != nil {
		return nil, err
	}
	return d.At()
}

// fromData sets to to a value of Data, by its JSON.
func fromData(v any, to reflect.Value) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%w: %w", tdict.ErrKind, err)
	}
	return json.Unmarshal(text, to.Addr().Interface())
}
