package tensor

import "math"

// An F16 holds the bits of an IEEE 754 binary16 number: 1 sign, 5 exponent and 10 fraction bits.
type F16 uint16

// A BF16 holds the bits of a bfloat16 number, the upper half of a float32: 1 sign, 8 exponent and 7
// fraction bits.
type BF16 uint16

// F16Of rounds x to the nearest Float16, ties to even. What is too large becomes infinite.
func F16Of(x float64) F16 { return F16(narrow(x, 5, 10)) }

// BF16Of rounds x to the nearest BFloat16, ties to even. What is too large becomes infinite.
func BF16Of(x float64) BF16 { return BF16(narrow(x, 8, 7)) }

// Float64 returns the number that h holds, exactly.
func (h F16) Float64() float64 { return widen(uint16(h), 5, 10) }

// Float64 returns the number that h holds, exactly.
func (h BF16) Float64() float64 { return float64(math.Float32frombits(uint32(h) << 16)) }

// narrow rounds x to a sign, exp exponent bits and frac fraction bits, 16 in all.
func narrow(x float64, exp, frac int) uint16 {
	bits := math.Float64bits(x)
	sign := uint16(bits>>48) & 0x8000
	infinite := (1<<exp - 1) << frac
	bias := 1<<(exp-1) - 1
	switch {
	case x != x:
		return sign | uint16(infinite|1<<(frac-1))
	case x == 0:
		return sign
	}
	e := int(bits>>52&0x7ff) - 1023
	if e < -bias-frac { // less than half of the smallest number (this covers float64's subnormals)
		return sign
	}
	mantissa := bits&(1<<52-1) | 1<<52
	drop := 52 - frac // fraction bits to round away
	if e < 1-bias {   // the result is subnormal
		drop += 1 - bias - e
		e = -bias
	}
	q := mantissa >> drop
	rest, half := mantissa&(1<<drop-1), uint64(1)<<(drop-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	if e == -bias {
		return sign | uint16(q) // a carry makes it the smallest normal number
	}
	// q has the leading 1, which adds one to the exponent field; so does a carry.
	return sign | uint16(min(uint64(infinite), uint64(e+bias-1)<<frac+q))
}

// widen returns the number whose bits are a sign, exp exponent bits and frac fraction bits.
func widen(bits uint16, exp, frac int) float64 {
	e := int(bits>>frac) & (1<<exp - 1)
	f := float64(int(bits) & (1<<frac - 1))
	bias := 1<<(exp-1) - 1
	var x float64
	switch {
	case e == 1<<exp-1 && f != 0:
		return math.NaN()
	case e == 1<<exp-1:
		x = math.Inf(1)
	case e == 0:
		x = math.Ldexp(f, 1-bias-frac)
	default:
		x = math.Ldexp(f+float64(int(1)<<frac), e-bias-frac)
	}
	if bits&0x8000 != 0 {
		return -x
	}
	return x
}
