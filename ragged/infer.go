package ragged

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/tensor"
)

// FromLists is [From] for lists whose type is known only at run time, such as lists from JSON:
//
//   - Slices of one Elem, nested up to 4 deep, become a tensor of that dtype.
//   - A []any may hold bools, numbers of all Go types, encoding/json's Number, the strings "NaN",
//     "+Inf" and "-Inf", and further []any or slices of these. The dtype is the smallest that
//     holds all values.
//
// The smallest dtype is the one that the Python package nested_ragged_tensors infers: bool if all
// values are bools; for integers the first of uint8, uint16, uint32, uint64 that holds all, or of
// int8, int16, int32, int64 if one is negative, where a bool counts as 0 or 1; float32 if there is
// a float. Unlike in Python, an integer that the dtype does not hold, such as 16777217 beside a
// float, is an error.
//
// encoding/json decodes a number as a float64. To keep integers, call UseNumber on its Decoder, or
// give the dtype by [FromListsAs] or a [Schema].
//
// FromLists returns [ErrLengths] if values are at different depths, or if there is only an empty
// list, and tensor.ErrDType if there is no value from which to infer the dtype.
func FromLists(lists any) (*Tensor, error) {
	t, err := fromTyped(lists)
	if t != nil || err != nil {
		return t, err
	}
	return fromNumbers(lists, 0, -1)
}

// FromListsAs is [FromLists] with the dtype and depth given, so that lists may be empty. depth may
// be [AsListed]. Integers must fit the dtype exactly; floats must too if dtype is an integer dtype,
// otherwise they are rounded. A bool counts as 0 or 1.
func FromListsAs(lists any, dtype tensor.DType, depth int) (*Tensor, error) {
	t, err := fromTyped(lists)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return fromNumbers(lists, dtype, depth)
	}
	if depth >= 0 && t.Depth() != depth {
		return nil, fmt.Errorf("%w: got values at depth %d, want depth %d", ErrLengths, t.Depth(), depth)
	}
	if t.DType() != dtype {
		return nil, fmt.Errorf("%w: got %v, want %v: Cast it", tensor.ErrDType, t.DType(), dtype)
	}
	return t, nil
}

// fromTyped returns the tensor of slices of an Elem, or nil if lists are not such slices.
func fromTyped(lists any) (*Tensor, error) {
	for _, try := range []func(any) (*Tensor, error){
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

func typed[T tensor.Elem](lists any) (*Tensor, error) {
	switch lists.(type) {
	case []T, [][]T, [][][]T, [][][][]T:
		return From[T](lists)
	}
	return nil, nil
}

// fromNumbers returns the tensor of lists of numbers. It infers the dtype if dtype is 0.
func fromNumbers(lists any, dtype tensor.DType, depth int) (*Tensor, error) {
	n := nest[number]{depth: depth, leaf: numberOf, open: opened}
	if err := n.add(lists, 0); err != nil {
		return nil, err
	}
	l, err := n.layout()
	if err != nil {
		return nil, err
	}
	if dtype == 0 {
		if dtype, err = smallest(n.values); err != nil {
			return nil, err
		}
	}
	values, err := numbersAs(n.values, dtype)
	if err != nil {
		return nil, err
	}
	return New(values, l)
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
		return 0, fmt.Errorf("%w: got no value to infer the dtype from: see FromListsAs", tensor.ErrDType)
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
