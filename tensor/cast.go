package tensor

import (
	"math"

	"github.com/go-tensordict/tensordict/internal/cast"
)

// Cast returns t's values as another dtype, in memory of its own; if t has that dtype, it is a
// [Tensor.Clone]. Values that do not fit follow these rules:
//
//   - an integer becomes the nearest that the dtype holds (saturates),
//   - a floating-point number is cut towards zero to become an integer, and saturates; NaN becomes
//     0,
//   - a number becomes the nearest floating-point number, ties to even, and infinite if it is too
//     large,
//   - a number becomes true unless it is zero; true becomes 1,
//   - a real number becomes complex with no imaginary part; a complex one loses its imaginary part.
//
// float16 and bfloat16 are reached by way of float64, which matters only for integers beyond 2^53.
// Cast returns [ErrDType] if dtype is none.
func (t *Tensor) Cast(dtype DType) (*Tensor, error) {
	if dtype == t.dtype {
		return t.Clone()
	}
	out, done, err := blankLike(nil, dtype, t.view.Shape, nil, t)
	if err != nil || done {
		return out, err
	}
	if err := castFrom(t, out); err != nil {
		return nil, err
	}
	return out, nil
}

// realElem is the set of dtypes that Go itself converts between.
type realElem interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64
}

// castFrom converts src to the dtype of the contiguous tensor dst.
func castFrom(src, dst *Tensor) error {
	switch src.dtype {
	case Bool:
		return castVia(src, dst, func(v bool) uint8 {
			if v {
				return 1
			}
			return 0
		})
	case Uint8:
		return castTo[uint8](src, dst)
	case Uint16:
		return castTo[uint16](src, dst)
	case Uint32:
		return castTo[uint32](src, dst)
	case Uint64:
		return castTo[uint64](src, dst)
	case Int8:
		return castTo[int8](src, dst)
	case Int16:
		return castTo[int16](src, dst)
	case Int32:
		return castTo[int32](src, dst)
	case Int64:
		return castTo[int64](src, dst)
	case Float16:
		return castVia(src, dst, F16.Float64)
	case BFloat16:
		return castVia(src, dst, BF16.Float64)
	case Float32:
		return castTo[float32](src, dst)
	case Float64:
		return castTo[float64](src, dst)
	}
	return castComplex(src, dst)
}

// castVia converts src to a real dtype first.
func castVia[S Elem, V realElem](src, dst *Tensor, fn func(S) V) error {
	via, err := Map(src, fn)
	if err != nil {
		return err
	}
	return castTo[V](via, dst)
}

func castComplex(src, dst *Tensor) error {
	switch {
	case src.dtype == Complex64 && dst.dtype == Complex128:
		return convert(src, dst, func(v complex64) complex128 { return complex128(v) })
	case src.dtype == Complex128 && dst.dtype == Complex64:
		return convert(src, dst, func(v complex128) complex64 { return complex64(v) })
	case dst.dtype == Bool && src.dtype == Complex64:
		return convert(src, dst, func(v complex64) bool { return v != 0 })
	case dst.dtype == Bool:
		return convert(src, dst, func(v complex128) bool { return v != 0 })
	case src.dtype == Complex64:
		return castVia(src, dst, func(v complex64) float32 { return real(v) })
	}
	return castVia(src, dst, func(v complex128) float64 { return real(v) })
}

// castTo converts src, of dtype S, to the dtype of dst.
func castTo[S realElem](src, dst *Tensor) error {
	switch dst.dtype {
	case Bool:
		return convert(src, dst, func(v S) bool { return v != 0 })
	case Uint8:
		return convert(src, dst, toInteger[S, uint8](0, math.MaxUint8))
	case Uint16:
		return convert(src, dst, toInteger[S, uint16](0, math.MaxUint16))
	case Uint32:
		return convert(src, dst, toInteger[S, uint32](0, math.MaxUint32))
	case Uint64:
		return convert(src, dst, toInteger[S, uint64](0, math.MaxUint64))
	case Int8:
		return convert(src, dst, toInteger[S, int8](math.MinInt8, math.MaxInt8))
	case Int16:
		return convert(src, dst, toInteger[S, int16](math.MinInt16, math.MaxInt16))
	case Int32:
		return convert(src, dst, toInteger[S, int32](math.MinInt32, math.MaxInt32))
	case Int64:
		return convert(src, dst, toInteger[S, int64](math.MinInt64, math.MaxInt64))
	case Float16:
		return convert(src, dst, func(v S) F16 { return F16Of(float64(v)) })
	case BFloat16:
		return convert(src, dst, func(v S) BF16 { return BF16Of(float64(v)) })
	case Float32:
		return convert(src, dst, func(v S) float32 { return float32(v) })
	case Float64:
		return convert(src, dst, func(v S) float64 { return float64(v) })
	case Complex64:
		return convert(src, dst, func(v S) complex64 { return complex(float32(v), 0) })
	}
	return convert(src, dst, func(v S) complex128 { return complex(float64(v), 0) })
}

// toInteger returns the conversion to an integer type whose values are low to high.
func toInteger[S, D realElem](low, high D) func(S) D {
	return func(v S) D {
		d := D(v)
		switch {
		case v != v:
			return 0
		case S(d) == v && (d < 0) == (v < 0):
			return d // nothing was lost
		case float64(v) <= float64(low):
			return low
		case float64(v) >= float64(high):
			return high
		}
		return d // a fraction was cut
	}
}

// convert sets the elements of the contiguous tensor dst.
func convert[S, D Elem](src, dst *Tensor, fn func(S) D) error {
	to, _ := cast.Slice[D](dst.mem.bytes) // blank made it; Of would look at what it holds
	return Read(src, func(s []S) {
		for i, v := range s {
			to[i] = fn(v)
		}
	})
}
