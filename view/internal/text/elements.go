package text

import (
	"fmt"

	"github.com/go-tensordict/tensordict/tensor"
)

// Elements returns the elements of a small tensor, row-major, for [Number] and [Exact]. Integers
// are int64 or uint64; other elements have the type of their dtype. It returns the errors of
// [tensor.Read].
func Elements(x *tensor.Tensor) ([]any, error) {
	switch x.DType() {
	case tensor.Bool:
		return elements(x, same[bool])
	case tensor.Int8:
		return elements(x, signed[int8])
	case tensor.Int16:
		return elements(x, signed[int16])
	case tensor.Int32:
		return elements(x, signed[int32])
	case tensor.Int64:
		return elements(x, signed[int64])
	case tensor.Uint8:
		return elements(x, unsigned[uint8])
	case tensor.Uint16:
		return elements(x, unsigned[uint16])
	case tensor.Uint32:
		return elements(x, unsigned[uint32])
	case tensor.Uint64:
		return elements(x, unsigned[uint64])
	case tensor.Float16:
		return elements(x, same[tensor.F16])
	case tensor.BFloat16:
		return elements(x, same[tensor.BF16])
	case tensor.Float32:
		return elements(x, same[float32])
	case tensor.Float64:
		return elements(x, same[float64])
	case tensor.Complex64:
		return elements(x, same[complex64])
	case tensor.Complex128:
		return elements(x, same[complex128])
	}
	return nil, fmt.Errorf("%w: got %v, want a dtype of a tensor", tensor.ErrDType, x.DType())
}

// elements returns the elements of x, which holds T, as convert returns them.
func elements[T tensor.Elem](x *tensor.Tensor, convert func(T) any) (out []any, err error) {
	err = tensor.Read(x, func(s []T) {
		out = make([]any, len(s))
		for i, v := range s {
			out[i] = convert(v)
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func same[T tensor.Elem](v T) any { return v }

func signed[T int8 | int16 | int32 | int64](v T) any { return int64(v) }

func unsigned[T uint8 | uint16 | uint32 | uint64](v T) any { return uint64(v) }
