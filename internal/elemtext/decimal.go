package elemtext

import (
	"math"
	"math/bits"
)

// A Decimal is a number in decimal notation: Digits / 10^Point.
type Decimal struct {
	Digits uint64
	Point  int // number of digits after the point, or -1 without a point
	Minus  bool
}

// mostDigits is the largest number of digits that uint64 always holds.
const mostDigits = 19

// ParseDecimal parses a number of at most 19 digits without an exponent. It returns false for any
// other text, which strconv parses or refuses.
func ParseDecimal(text []byte) (d Decimal, ok bool) {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		d.Minus, text = text[0] == '-', text[1:]
	}
	if len(text) > mostDigits+1 {
		return d, false
	}
	point := -1
	for i, c := range text {
		if digit := c - '0'; digit <= 9 {
			d.Digits = d.Digits*10 + uint64(digit)
		} else if c == '.' && point < 0 {
			point = i
		} else {
			return d, false
		}
	}
	digits := len(text)
	if d.Point = -1; point >= 0 {
		digits--
		d.Point = digits - point
	}
	return d, 0 < digits && digits <= mostDigits
}

var tens = [mostDigits + 1]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// Float64 returns the nearest float64, as strconv.ParseFloat does.
func (d Decimal) Float64() (v float64) {
	switch {
	case d.Point <= 0 || d.Digits == 0:
		v = float64(d.Digits)
	case d.Digits < 1<<53: // both are exact, and the division rounds once
		v = float64(d.Digits) / float64(tens[d.Point])
	default:
		v = quotient(d.Digits, tens[d.Point])
	}
	if d.Minus {
		return -v
	}
	return v
}

// Float32 returns the nearest float32. ok is false if the nearest float64 lies in the middle
// between two float32: then it does not tell which one is nearer.
func (d Decimal) Float32() (v float32, ok bool) {
	wide := d.Float64()
	return float32(wide), math.Float64bits(wide)&(1<<29-1) != 1<<28
}

// quotient returns the float64 nearest to m / d, neither of which is 0. It divides to 62 bits or
// more, and sets the last one if there is a rest.
func quotient(m, d uint64) float64 {
	s, t := bits.LeadingZeros64(m), bits.LeadingZeros64(d)
	m, d = m<<s, d<<t
	q, rest := bits.Div64(m>>1, m<<63, d)
	if rest != 0 {
		q |= 1
	}
	return math.Ldexp(float64(q), t-s-63)
}
