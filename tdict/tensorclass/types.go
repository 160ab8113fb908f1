package tensorclass

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var (
	classType = reflect.TypeFor[Class]()
	leafType  = reflect.TypeFor[interface{ dtype() tensor.DType }]()
	jsonTypes = []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()}

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

	dtypes = map[reflect.Kind]tensor.DType{
		reflect.Bool:  tensor.Bool,
		reflect.Uint8: tensor.Uint8, reflect.Uint16: tensor.Uint16, reflect.Uint32: tensor.Uint32, reflect.Uint64: tensor.Uint64,
		reflect.Int8: tensor.Int8, reflect.Int16: tensor.Int16, reflect.Int32: tensor.Int32, reflect.Int64: tensor.Int64,
		reflect.Float32: tensor.Float32, reflect.Float64: tensor.Float64,
		reflect.Complex64: tensor.Complex64, reflect.Complex128: tensor.Complex128,
	}
)

// isLeaf reports whether t is a [Leaf], which a struct that embeds one is not.
func isLeaf(t reflect.Type) bool { return t.PkgPath() == classType.PkgPath() && t.Implements(leafType) }

// columnSpec returns the spec of a type that holds a value of a dictionary.
func columnSpec(t reflect.Type) (s tdict.Spec, ok bool) {
	if isLeaf(t) {
		return tdict.Spec{DType: reflect.Zero(t).Interface().(interface{ dtype() tensor.DType }).dtype()}, true
	}
	s.Kind, ok = columnKinds[t]
	if s.Kind == tdict.KindRagged {
		s.Depth = 1
	}
	return s, ok
}

// elements returns the dtype and the dims of a number, a bool, or an array of them.
func elements(t reflect.Type) (d tensor.DType, dims shapeops.Shape, ok bool) {
	for t.Kind() == reflect.Array {
		dims = append(dims, t.Len())
		t = t.Elem()
	}
	if d, ok = halves[t]; !ok {
		d, ok = dtypes[t.Kind()]
	}
	return d, dims, ok
}

// innermost returns the type that arrays and slices hold.
func innermost(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Array || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// marshals reports whether a type says itself how it becomes JSON.
func marshals(t reflect.Type) bool {
	for _, m := range jsonTypes {
		if t.Implements(m) || reflect.PointerTo(t).Implements(m) {
			return true
		}
	}
	return false
}

// opaque reports whether a struct shows none of its fields, but becomes JSON, as time.Time.
func opaque(t reflect.Type) bool {
	for f := range t.Fields() {
		if f.IsExported() || f.Anonymous {
			return false
		}
	}
	return marshals(t)
}

// checkJSON returns an error unless values of t become JSON.
func checkJSON(t reflect.Type, seen map[reflect.Type]bool) error {
	if seen[t] || marshals(t) {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return fmt.Errorf("got %v, which JSON does not take", t)
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return fmt.Errorf("got %v, want string as the type of keys", t)
		}
		return checkJSON(t.Elem(), seen)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return checkJSON(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if err := checkJSON(f.Type, seen); err != nil && f.IsExported() {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
	}
	return nil
}
