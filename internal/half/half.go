package half

import "math"

// The positive infinities, and the NaN that narrowing returns for every NaN.
const (
	F16Inf  = 0x7c00
	F16NaN  = 0x7e00
	BF16Inf = 0x7f80
	BF16NaN = 0x7fc0
)

// Bits of a float64: the least numbers that round to infinity in a 16-bit format, its least normal
// numbers, and the infinity after which there are only NaN.
const (
	f16Over    = (1023+15)<<52 | (1<<11-1)<<41 // 65520, the middle between 65504 and 65536
	f16Normal  = (1023 - 14) << 52             // 2^-14
	bf16Over   = (1023+127)<<52 | (1<<8-1)<<44 // the middle between the largest number and 2^128
	bf16Normal = (1023 - 126) << 52            // 2^-126
	infinite   = 0x7ff << 52
)

// Subtracted from the bits of a float64: the correction of the exponent, minus the addition that
// rounds the fraction, which is one less than half a unit of the last place that is kept.
const (
	f16Rebias  = (1023-15)<<52 - (1<<41 - 1)
	bf16Rebias = (1023-127)<<52 - (1<<44 - 1)
)

// F16To32 returns the number with the bits h.
func F16To32(h uint16) float32 {
	m := uint32(h & 0x7fff)
	b := m<<13 + (127-15)<<23
	switch {
	case m-1<<10 < 30<<10: // normal
	case m < 1<<10: // subnormal, or zero: the fraction counts units of 2^-24
		b = math.Float32bits(float32(m) * 0x1p-24)
	default: // infinite, or not a number
		b += (127 - 15) << 23
		if m > F16Inf {
			b |= 1 << 22
		}
	}
	return math.Float32frombits(b | uint32(h&0x8000)<<16)
}

// F16From rounds x to the nearest number of binary16.
func F16From(x float64) uint16 {
	sign := math.Float64bits(x)
	b, h := sign&^(1<<63), uint16(F16Inf)
	switch {
	case b-f16Normal < f16Over-f16Normal:
		h = uint16((b + b>>42&1 - f16Rebias) >> 42) // b>>42&1: ties to even; a carry goes to the exponent
	case b < f16Normal: // the sum has units of 2^-24, to which the addition rounds
		h = uint16(math.Float64bits(math.Float64frombits(b) + 1<<28))
	case b > infinite:
		h = F16NaN
	}
	return uint16(sign>>48)&0x8000 | h
}

// BF16To32 returns the number with the bits h.
func BF16To32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// BF16From rounds x to the nearest number of bfloat16.
func BF16From(x float64) uint16 {
	sign := math.Float64bits(x)
	b, h := sign&^(1<<63), uint16(BF16Inf)
	switch {
	case b-bf16Normal < bf16Over-bf16Normal:
		h = uint16((b + b>>45&1 - bf16Rebias) >> 45)
	case b < bf16Normal: // the sum has units of 2^-133
		h = uint16(math.Float64bits(math.Float64frombits(b) + 0x1p-81))
	case b > infinite:
		h = BF16NaN
	}
	return uint16(sign>>48)&0x8000 | h
}
