package arith

import "math"

// Some assembly routines of package math are wrong at the edges. On amd64, Log mistakes a
// subnormal number for another one, and so does Pow, which calls it. Exp overflows from 709.44 on,
// although results are finite up to 709.78. The functions here are right there. The loops in
// doubleFunctions and divideFloats call package math directly for all other numbers, because one
// more call for each element would add a tenth to their time.

// smallestNormal is the smallest positive normal float64.
const smallestNormal = 0x1p-1022

// logSmall returns the natural logarithm of x, which is less than smallestNormal.
func logSmall(x float64) float64 {
	if x > 0 {
		return math.Log(x*0x1p64) - 64*math.Ln2
	}
	return math.Log(x)
}

// isLarge reports whether x is above 709, or is a NaN without a sign. It compares bits: a
// comparison of numbers would add a tenth to the time of math.Exp.
func isLarge(x float64) bool { return int64(math.Float64bits(x)) > 0x4086280000000000 }

// expLarge returns e to the power of x, for which isLarge holds.
func expLarge(x float64) float64 {
	if y := math.Exp(x); !math.IsInf(y, 1) {
		return y
	}
	return math.Exp(x-1) * math.E
}

// powSmall returns x to the power of y, where |x| is less than smallestNormal. 64*y is exact.
func powSmall(x, y float64) float64 {
	if x == 0 {
		return math.Pow(x, y)
	}
	return math.Pow(x*0x1p64, y) * math.Exp2(-64*y)
}
