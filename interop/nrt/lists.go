package nrt

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// FromLists returns a collection of nested lists under their names, for lists whose types are known
// only at run time, such as lists from JSON:
//
//   - Slices of one dtype, nested up to 4 deep, keep it.
//   - A []any may hold bools, numbers of all Go types, encoding/json's Number, the strings "NaN",
//     "+Inf" and "-Inf", and further []any or slices of these.
//
// So the fields of these lists are uint8 [2] and float32 [2 *]:
//
//	j, err := nrt.FromLists(map[string]any{
//		"age": []any{70, 80},
//		"day": []any{[]any{0, 192}, []any{0.5}},
//	}, nil)
//
// The package documentation says which dtypes fields have with and without a schema: see Lists.
//
// FromLists returns, with the name of the field, the errors of [joint.New], and
//
//   - [joint.ErrName] if a list has no spec, or a spec that is not Optional has no list
//   - ragged.ErrLengths if values are at different depths, or if there is only an empty list and no
//     schema
//   - tensor.ErrDType if no value is there to infer the dtype, or a dtype does not hold a value
//   - shapeops.ErrKind for a value that is not a list, and for a spec of another kind
//   - shapeops.ErrShape for a spec with a Shape or a Batch, which lists do not have, and
//     shapeops.ErrDim for one with a Depth that is not of KindRagged
func FromLists(lists map[string]any, schema tdict.Schema) (*joint.Joint, error) {
	inferred := schema == nil
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		if inferred {
			schema = append(schema, tdict.Spec{Key: nestedkey.Of(name), Kind: tdict.KindRagged, Depth: tdict.Any})
		} else if !slices.ContainsFunc(schema, func(s tdict.Spec) bool { return s.Key == nestedkey.Of(name) }) {
			return nil, fmt.Errorf("%w: the schema has no %q", joint.ErrName, name)
		}
	}
	fields := make([]joint.Field, 0, len(schema))
	for _, spec := range schema {
		name := spec.Key.Name()
		list, ok := lists[name]
		switch {
		case !ok && spec.Optional:
			continue
		case !ok:
			return nil, fmt.Errorf("%w: got no list for %q, which the schema has", joint.ErrName, name)
		}
		t, err := fromList(list, spec)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
		fields = append(fields, joint.Field{Name: name, Tensor: t})
	}
	return joint.New(fields...)
}

// fromList returns the tensor of lists, or of a value if spec says so.
func fromList(lists any, spec tdict.Spec) (*ragged.Tensor, error) {
	switch {
	case len(spec.Shape) > 0:
		return nil, fmt.Errorf("%w: got Shape %v, want none: lists have no dims after their levels", shapeops.ErrShape, spec.Shape)
	case len(spec.Batch) > 0:
		return nil, fmt.Errorf("%w: got Batch %v, want none: the outermost list is the batch", shapeops.ErrShape, spec.Batch)
	case spec.Depth != 0 && spec.Kind != tdict.KindRagged:
		return nil, fmt.Errorf("%w: got Depth %d for kind %v, want 0", shapeops.ErrDim, spec.Depth, spec.Kind)
	}
	switch spec.Kind {
	case tdict.KindUnbatched:
		row, err := fromList([]any{lists}, tdict.Spec{DType: spec.DType})
		if err != nil {
			return nil, err
		}
		return row.Row(0)
	case tdict.KindTensor, tdict.KindRagged:
	default:
		return nil, fmt.Errorf("%w: got a spec of kind %v, want a tensor, ragged or unbatched", shapeops.ErrKind, spec.Kind)
	}
	t, err := fromTyped(lists)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return fromNumbers(lists, spec.DType, spec.Depth) // FromDepth takes -1, which is tdict.Any
	}
	if spec.Depth >= 0 && t.Depth() != spec.Depth {
		return nil, fmt.Errorf("%w: got values at depth %d, want depth %d", ragged.ErrLengths, t.Depth(), spec.Depth)
	}
	if spec.DType != 0 && t.DType() != spec.DType {
		return nil, fmt.Errorf("%w: got %v, want %v: Cast it", tensor.ErrDType, t.DType(), spec.DType)
	}
	return t, nil
}

// fromTyped returns the tensor of slices of an Elem, or nil if lists are not such slices.
func fromTyped(lists any) (*ragged.Tensor, error) {
	for _, try := range []func(any) (*ragged.Tensor, error){
		typed[bool], typed[uint8], typed[uint16], typed[uint32], typed[uint64],
		typed[int8], typed[int16], typed[int32], typed[int64],
		typed[tensor.F16], typed[tensor.BF16], typed[float32], typed[float64], typed[complex64], typed[complex128],
	} {
		if t, err := try(lists); t != nil || err != nil {
			return t, err
		}
	}
	return nil, nil
}

func typed[T tensor.Elem](lists any) (*ragged.Tensor, error) {
	switch lists.(type) {
	case []T, [][]T, [][][]T, [][][][]T:
		return ragged.From[T](lists)
	}
	return nil, nil
}

// fromNumbers returns the tensor of lists of numbers. It infers the dtype if dtype is 0.
func fromNumbers(lists any, dtype tensor.DType, depth int) (*ragged.Tensor, error) {
	var values []number
	places, err := placesOf(lists, &values)
	if err != nil {
		return nil, err
	}
	at, err := ragged.FromDepth[bool](places, depth)
	if err != nil {
		return nil, err
	}
	if dtype == 0 {
		if dtype, err = smallest(values); err != nil {
			return nil, err
		}
	}
	x, err := numbersAs(values, dtype)
	if err != nil {
		return nil, err
	}
	return ragged.New(x, at.Layout())
}

// placesOf appends the numbers in lists to values, and returns lists with true in their places.
func placesOf(lists any, values *[]number) ([]any, error) {
	list, ok := opened(lists)
	if !ok {
		return nil, fmt.Errorf("%w: got %T, want []any, or slices of bool or of sized numbers such as int32 (not int), nested up to 4 deep", shapeops.ErrKind, lists)
	}
	out := make([]any, len(list))
	for i, x := range list {
		if v, ok := numberOf(x); ok {
			*values, out[i] = append(*values, v), true
			continue
		}
		inner, err := placesOf(x, values)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		out[i] = inner
	}
	return out, nil
}

// opened converts a slice of numbers, or of such slices, to a []any.
func opened(list any) ([]any, bool) {
	for _, try := range []func(any) ([]any, bool){
		openedAs[any],
		openedAs[bool], openedAs[uint8], openedAs[uint16], openedAs[uint32], openedAs[uint64],
		openedAs[int8], openedAs[int16], openedAs[int32], openedAs[int64],
		openedAs[float32], openedAs[float64], openedAs[int], openedAs[uint],
	} {
		if out, ok := try(list); ok {
			return out, true
		}
	}
	return nil, false
}

func openedAs[T any](list any) ([]any, bool) {
	switch list := list.(type) {
	case []T:
		return anys(list), true
	case [][]T:
		return anys(list), true
	case [][][]T:
		return anys(list), true
	}
	return nil, false
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = x
	}
	return out
}

// smallest returns the smallest dtype that holds all values.
func smallest(values []number) (tensor.DType, error) {
	if len(values) == 0 {
		return 0, fmt.Errorf("%w: got no value to infer the dtype from: give it in a schema", tensor.ErrDType)
	}
	if i := slices.IndexFunc(values, func(v number) bool { return v.kind == anInteger && !v.whole }); i >= 0 {
		return 0, fmt.Errorf("value %d: %w: got %v, which is beyond 64 bits", i, tensor.ErrDType, values[i])
	}
	var kind numberKind
	low, high := int64(0), uint64(0)
	for _, v := range values {
		kind = max(kind, v.kind)
		if v.negative {
			low = min(low, -int64(v.size))
		} else {
			high = max(high, v.size)
		}
	}
	switch kind {
	case aBool:
		return tensor.Bool, nil
	case aFloat:
		return tensor.Float32, nil
	}
	return smallestInteger(low, high)
}

// integers are the integer dtypes, in the order in which they are tried.
var integers = []struct {
	dtype tensor.DType
	low   int64
	high  uint64
}{
	{tensor.Uint8, 0, math.MaxUint8}, {tensor.Uint16, 0, math.MaxUint16},
	{tensor.Uint32, 0, math.MaxUint32}, {tensor.Uint64, 0, math.MaxUint64},
	{tensor.Int8, math.MinInt8, math.MaxInt8}, {tensor.Int16, math.MinInt16, math.MaxInt16},
	{tensor.Int32, math.MinInt32, math.MaxInt32}, {tensor.Int64, math.MinInt64, math.MaxInt64},
}

func smallestInteger(low int64, high uint64) (tensor.DType, error) {
	for _, d := range integers {
		if low >= d.low && high <= d.high {
			return d.dtype, nil
		}
	}
	return 0, fmt.Errorf("%w: got integers from %d to %d, which no dtype holds", tensor.ErrDType, low, high)
}

// numbersAs returns values as a tensor of a dtype. It returns an error if that would change a
// value, except that floats may be rounded.
func numbersAs(values []number, dtype tensor.DType) (*tensor.Tensor, error) {
	switch {
	case dtype == tensor.Uint64:
		return listed64(values, dtype, number.uint64)
	case dtype == tensor.Bool || dtype.IsInteger():
		return listed64(values, dtype, number.int64)
	}
	return listed64(values, dtype, number.float64)
}

// listed64 is numbersAs by way of a list of T.
func listed64[T uint64 | int64 | float64](values []number, dtype tensor.DType, as func(number) (T, bool)) (*tensor.Tensor, error) {
	list := make([]T, len(values))
	for i, v := range values {
		x, ok := as(v)
		if !ok {
			return nil, v.refused(i, dtype)
		}
		list[i] = x
	}
	wide := tensor.Vector(list...)
	out, err := wide.Cast(dtype)
	if err == nil {
		err = checkCast(list, out, values)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// checkCast returns tensor.ErrDType unless out, which list was cast to, holds the same values;
// floats may be rounded.
func checkCast[T uint64 | int64 | float64](list []T, out *tensor.Tensor, values []number) error {
	back, err := out.Cast(tensor.DTypeOf[T]())
	if err != nil {
		return err
	}
	var got []T
	if err := tensor.Read(back, func(s []T) { got = slices.Clone(s) }); err != nil {
		return err
	}
	for i, x := range list {
		rounded := values[i].kind == aFloat && !out.DType().IsInteger() && out.DType() != tensor.Bool && !math.IsInf(float64(got[i]), 0)
		if got[i] != x && x == x && !rounded {
			return values[i].refused(i, out.DType())
		}
	}
	return nil
}
