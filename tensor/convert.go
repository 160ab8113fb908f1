package tensor

import (
	"sync"

	"github.com/go-tensordict/tensordict/internal/cast"
	bits16 "github.com/go-tensordict/tensordict/internal/half"
	"github.com/go-tensordict/tensordict/internal/vector"
)

// A conversion sets the elements of dst to the elements of src, as [Tensor.Cast] says. Both slices
// are aligned and have the same number of elements. dst may be src if the elements are equally
// wide.
type conversion func(dst, src []byte)

// conversions has them all, by the dtypes that they convert from and to, which differ.
var conversions = sync.OnceValue(func() *[len(dtypes)][len(dtypes)]conversion {
	all := new([len(dtypes)][len(dtypes)]conversion)
	for _, from := range DTypes() {
		for _, to := range DTypes() {
			if from != to {
				all[from][to] = conversionOf(from, to)
			}
		}
	}
	return all
})

// conversionOf returns the conversion between two different dtypes.
func conversionOf(from, to DType) conversion {
	switch [2]DType{from, to} {
	case [2]DType{Uint8, Float32}, [2]DType{Bool, Float32}:
		return on(vector.OfBytes)
	case [2]DType{Float32, Uint8}:
		return on(vector.ToBytes)
	case [2]DType{Float32, Float16}:
		return on(vector.NarrowF16)
	case [2]DType{Float32, BFloat16}:
		return on(vector.NarrowBF16)
	}
	switch from {
	case Bool, Uint8:
		return fromInteger[uint8](to)
	case Uint16:
		return fromInteger[uint16](to)
	case Uint32:
		return fromInteger[uint32](to)
	case Uint64:
		return fromInteger[uint64](to)
	case Int8:
		return fromInteger[int8](to)
	case Int16:
		return fromInteger[int16](to)
	case Int32:
		return fromInteger[int32](to)
	case Int64:
		return fromInteger[int64](to)
	case Float16:
		return byWayOf(from, Float32, to, on(vector.WidenF16))
	case BFloat16:
		return byWayOf(from, Float32, to, on(vector.WidenBF16))
	case Float32:
		return fromFloat[float32](to)
	case Float64:
		return fromFloat[float64](to)
	}
	return fromComplex(from, to)
}

// integer is the set of integer types.
type integer interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64
}

func fromInteger[S integer](to DType) conversion {
	switch to {
	case Uint8:
		return ofIntegers[S, uint8]()
	case Uint16:
		return ofIntegers[S, uint16]()
	case Uint32:
		return ofIntegers[S, uint32]()
	case Uint64:
		return ofIntegers[S, uint64]()
	case Int8:
		return ofIntegers[S, int8]()
	case Int16:
		return ofIntegers[S, int16]()
	case Int32:
		return ofIntegers[S, int32]()
	case Int64:
		return ofIntegers[S, int64]()
	}
	return fromReal[S](to)
}

func fromFloat[S float32 | float64](to DType) conversion {
	switch to {
	case Uint8:
		return on(cut[S, uint8])
	case Uint16:
		return on(cut[S, uint16])
	case Uint32:
		return on(cut[S, uint32])
	case Uint64:
		return on(saturate[S, uint64])
	case Int8:
		return on(cut[S, int8])
	case Int16:
		return on(cut[S, int16])
	case Int32:
		return on(cut[S, int32])
	case Int64:
		return on(saturate[S, int64])
	}
	return fromReal[S](to)
}

// fromReal returns the conversion of real numbers to a dtype that is not an integer.
func fromReal[S Number](to DType) conversion {
	switch to {
	case Bool:
		return on(notZero[S])
	case Float16:
		return on(bits16.NarrowF16[S])
	case BFloat16:
		return on(bits16.NarrowBF16[S])
	case Float32:
		return on(plain[S, float32])
	case Float64:
		return on(plain[S, float64])
	case Complex64:
		return on(toComplex64[S])
	}
	return on(toComplex128[S])
}

func fromComplex(from, to DType) conversion {
	switch {
	case to == Bool && from == Complex64:
		return on(notZero[complex64])
	case to == Bool:
		return on(notZero[complex128])
	case to == Complex128:
		return on(complexes[complex64, complex128])
	case to == Complex64:
		return on(complexes[complex128, complex64])
	case from == Complex64:
		return byWayOf(from, Float32, to, on(realPart64))
	}
	return byWayOf(from, Float64, to, on(realPart128))
}

// viaBytes is how much of what a conversion goes by way of is there at a time.
const viaBytes = 8 << 10

// byWayOf returns the conversion that first converts to dtype via, one part at a time, and then to
// dtype to, unless that is via.
func byWayOf(from, via, to DType, first conversion) conversion {
	if via == to {
		return first
	}
	second := conversionOf(via, to)
	return func(dst, src []byte) {
		arena := cast.Uninit(min(viaBytes, len(src)/from.Size()*via.Size()))
		for len(src) > 0 {
			n := min(len(arena)/via.Size(), len(src)/from.Size())
			part := arena[:n*via.Size()]
			first(part, src[:n*from.Size()])
			second(dst[:n*to.Size()], part)
			dst, src = dst[n*to.Size():], src[n*from.Size():]
		}
	}
}

// on returns the conversion by a loop over typed slices. Each loop first reslices both sides to one
// length, so that the compiler drops bounds checks.
func on[D, S cast.Fixed](loop func(to []D, from []S)) conversion {
	return func(dst, src []byte) {
		to, _ := cast.Slice[D](dst)
		from, _ := cast.Slice[S](src)
		loop(to, from)
	}
}

// plain converts as Go does. The caller knows that each value fits.
func plain[S, D Number](to []D, from []S) {
	to = to[:len(from)]
	for i, v := range from {
		to[i] = D(v)
	}
}

// ofIntegers returns the conversion between two integer types.
func ofIntegers[S, D integer]() conversion {
	low, high := within[S, D]()
	if first, last := limits[S](); low == first && high == last {
		return on(plain[S, D])
	}
	return on(clamp[S, D])
}

func clamp[S, D integer](to []D, from []S) {
	to = to[:len(from)]
	low, high := within[S, D]()
	span := uint64(high) - uint64(low) // modulo 2^64, as below
	for i, v := range from {
		if uint64(v)-uint64(low) > span {
			v = min(max(v, low), high)
		}
		to[i] = D(v)
	}
}

// limits returns the least and the greatest T.
func limits[T integer]() (low, high T) {
	if high = ^low; high > 0 {
		return 0, high
	}
	low = 1 << (8*cast.Size[T]() - 1)
	return low, ^low
}

// within returns the least and the greatest S that D also holds.
func within[S, D integer]() (low, high S) {
	low, high = limits[S]()
	least, greatest := limits[D]()
	return S(max(int64(low), int64(least))), S(min(uint64(high), uint64(greatest)))
}

// cut truncates towards zero to an integer of up to 32 bits, by way of int64. A number that int64
// does not hold becomes a machine-dependent int64, the least or the greatest, which saturates in D.
// NaN may become zero, which is the wanted result.
func cut[S float32 | float64, D integer](to []D, from []S) {
	to = to[:len(from)]
	i := 0
	for ; i < len(from)-3; i += 4 {
		a, b, c, d := int64(from[i]), int64(from[i+1]), int64(from[i+2]), int64(from[i+3])
		if int64(D(a)) == a && int64(D(b)) == b && int64(D(c)) == c && int64(D(d)) == d {
			to[i], to[i+1], to[i+2], to[i+3] = D(a), D(b), D(c), D(d)
		} else {
			saturate(to[i:i+4], from[i:i+4])
		}
	}
	saturate(to[i:], from[i:])
}

// saturate truncates towards zero and saturates. A number just below the least D, which would
// truncate to it, counts as too small; the result is the same.
func saturate[S float32 | float64, D integer](to []D, from []S) {
	to = to[:len(from)]
	low, high := limits[D]()
	least, beyond := S(low), S(high)+1 // powers of two or zero: exact
	for i, v := range from {
		switch {
		case v >= least && v < beyond:
			to[i] = D(v)
		case v < least:
			to[i] = low
		case v >= beyond:
			to[i] = high
		default:
			to[i] = 0 // not a number
		}
	}
}

func notZero[S Number | complex64 | complex128](to []bool, from []S) {
	to = to[:len(from)]
	for i, v := range from {
		to[i] = v != 0
	}
}

func toComplex64[S Number](to []complex64, from []S) {
	to = to[:len(from)]
	for i, v := range from {
		to[i] = complex(float32(v), 0)
	}
}

func toComplex128[S Number](to []complex128, from []S) {
	to = to[:len(from)]
	for i, v := range from {
		to[i] = complex(float64(v), 0)
	}
}

func complexes[S, D complex64 | complex128](to []D, from []S) {
	to = to[:len(from)]
	for i, v := range from {
		to[i] = D(v)
	}
}

func realPart64(to []float32, from []complex64) {
	to = to[:len(from)]
	for i, v := range from {
		to[i] = real(v)
	}
}

func realPart128(to []float64, from []complex128) {
	to = to[:len(from)]
	for i, v := range from {
		to[i] = real(v)
	}
}
