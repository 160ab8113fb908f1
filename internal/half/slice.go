package half

import "math"

// Real is the set of types that are narrowed, by way of float64.
type Real interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64
}

// WidenF16 sets dst to the numbers of src. len(src) must be at least len(dst).
func WidenF16(dst []float32, src []uint16) {
	src = src[:len(dst)]
	for i, h := range src {
		dst[i] = F16To32(h)
	}
}

// WidenBF16 sets dst to the numbers of src. len(src) must be at least len(dst).
func WidenBF16(dst []float32, src []uint16) {
	src = src[:len(dst)]
	for i, h := range src {
		dst[i] = BF16To32(h)
	}
}

// NarrowF16 sets dst to the numbers of src, rounded as by [F16From]. len(src) must be at least
// len(dst).
func NarrowF16[T Real](dst []uint16, src []T) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = F16From(float64(v))
	}
}

// NarrowBF16 sets dst to the numbers of src, rounded as by [BF16From]. len(src) must be at least
// len(dst).
func NarrowBF16[T Real](dst []uint16, src []T) {
	src = src[:len(dst)]
	if s, ok := any(src).([]float32); ok {
		upperHalves(dst, s)
		return
	}
	for i, v := range src {
		dst[i] = BF16From(float64(v))
	}
}

// upperHalves is NarrowBF16 of what has the same exponents: bits are cut off, and infinity is what
// comes after the largest number.
func upperHalves(dst []uint16, src []float32) {
	for i, v := range src {
		b := math.Float32bits(v)
		if v != v {
			dst[i] = uint16(b>>16)&0x8000 | BF16NaN
			continue
		}
		dst[i] = uint16((b + b>>16&1 + (1<<15 - 1)) >> 16)
	}
}
