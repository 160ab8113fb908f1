package half_test

import (
	"math"

	"github.com/go-tensordict/tensordict/internal/half"
)

// A format is one of the two, with its conversions and the numbers that say what they must be.
type format struct {
	name      string
	exp, frac int // bits
	from      func(x float64) uint16
	from32    func(dst []uint16, src []float32)
	from64    func(dst []uint16, src []float64)
	to        func(h uint16) float32
	slice     func(dst []float32, src []uint16)
	quiets    bool // widening makes a NaN quiet
}

var formats = []format{
	{"float16", 5, 10, half.F16From, half.NarrowF16[float32], half.NarrowF16[float64], half.F16To32, half.WidenF16, true},
	{"bfloat16", 8, 7, half.BF16From, half.NarrowBF16[float32], half.NarrowBF16[float64], half.BF16To32, half.WidenBF16, false},
}

func (f format) bias() int        { return 1<<(f.exp-1) - 1 }
func (f format) infinite() uint16 { return uint16(1<<f.exp-1) << f.frac }

// narrow is the reference: it rounds x digit by digit, as the definition of the formats says.
func (f format) narrow(x float64) uint16 {
	bits := math.Float64bits(x)
	sign := uint16(bits>>48) & 0x8000
	switch {
	case x != x:
		return sign | f.infinite() | 1<<(f.frac-1)
	case x == 0:
		return sign
	}
	e := int(bits>>52&0x7ff) - 1023
	if e < -f.bias()-f.frac { // less than half of the smallest number (this covers float64's subnormals)
		return sign
	}
	mantissa := bits&(1<<52-1) | 1<<52
	drop := 52 - f.frac // fraction bits to round away
	if e < 1-f.bias() { // the result is subnormal
		drop += 1 - f.bias() - e
		e = -f.bias()
	}
	q := mantissa >> drop
	rest, half := mantissa&(1<<drop-1), uint64(1)<<(drop-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	if e == -f.bias() {
		return sign | uint16(q) // a carry makes it the smallest normal number
	}
	// q has the leading 1, which adds one to the exponent field; so does a carry.
	return sign | uint16(min(uint64(f.infinite()), uint64(e+f.bias()-1)<<f.frac+q))
}

// widen is the reference for all bits but those of a NaN.
func (f format) widen(bits uint16) float64 {
	e := int(bits>>f.frac) & (1<<f.exp - 1)
	fraction := float64(int(bits) & (1<<f.frac - 1))
	x := math.Ldexp(fraction, 1-f.bias()-f.frac)
	switch {
	case bits&0x7fff == f.infinite():
		x = math.Inf(1)
	case e > 0:
		x = math.Ldexp(fraction+float64(int(1)<<f.frac), e-f.bias()-f.frac)
	}
	return math.Copysign(x, float64(1-int(bits>>14&2)))
}

// middle returns the number halfway between positive bits and the next, exactly; beyond the largest
// number, the next is where it would be.
func (f format) middle(bits uint16) float64 {
	x := f.widen(bits)
	next := f.widen(bits + 1)
	if bits+1 == f.infinite() {
		next = x + (x - f.widen(bits-1))
	}
	return x/2 + next/2
}
