package arith

import "math"

// Package math has routines in assembly that are wrong at the edges. On amd64, Log takes a
// subnormal number for another one, and so does Pow, which calls it; Exp overflows from 709.44 on,
// where results are finite up to 709.78. The functions here are right at those edges. The loops in
// doubleFunctions and divideFloats call package math themselves for all other numbers, because one
// more call for each element would take a tenth of their time.

// smallestNormal is the smallest positive float64 that is not subnormal.
const smallestNormal = 0x1p-1022

// logSmall returns the natural logarithm of x, which is less than smallestNormal.
func logSmall(x float64) float64 {
	if x > 0 {
		return math.Log(x*0x1p64) - 64*math.Ln2
	}
	return math.Log(x)
}

// isLarge reports whether x is above 709 or NaN, but for NaN with a sign. It compares bits: to
// compare numbers would take a tenth of the time of math.Exp.
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
