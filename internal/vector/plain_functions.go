package vector

import "math"

// This file has the functions of plain.go that are computed as polynomials.

func exp(dst, a []float32) {
	a = a[:len(dst)]
	for i, v := range a {
		dst[i] = float32(expOf(cut(v, -104, 89)))
	}
}

func sigmoid(dst, a []float32) {
	a = a[:len(dst)]
	for i, v := range a {
		dst[i] = float32(1 / (1 + expOf(-cut(v, -104, 104))))
	}
}

func tanh(dst, a []float32) {
	a = a[:len(dst)]
	for i, v := range a {
		dst[i] = float32(math.Copysign(float64(float32(tanhOf(cut(v, -20, 20)))), float64(v)))
	}
}

func log(dst, a []float32) {
	a = a[:len(dst)]
	for i, v := range a {
		dst[i] = logOf(v)
	}
}

func weightRows(dst []float64, x []float32, at []int, b []float32) {
	x = x[:len(x):len(x)]
	for i, o := range at {
		row := x[o:][:len(b)]
		for j, v := range row {
			dst[i*len(b)+j] = weight(v, b[j])
		}
	}
}

func addWeightRows(dst []float64, x []float32, at []int, b []float32) {
	x = x[:len(x):len(x)]
	for _, o := range at {
		row := x[o:][:len(b)]
		for i, v := range row {
			dst[i] += weight(v, b[i])
		}
	}
}

// cut returns v limited to the range from low to high.
func cut(v float32, low, high float64) float64 {
	x := float64(v) // converted first: otherwise each conversion waits for the one before it
	if x < low {
		x = low
	}
	if x > high {
		x = high
	}
	return x
}

// exp2 are the coefficients of 2^r = 1 + exp2[0] r + exp2[1] r^2 + ..., |r| <= 1/2.
var exp2 = [...]float64{
	0x1.62e42fefa39f7p-1, 0x1.ebfbdff82c590p-3, 0x1.c6b08d7044119p-5, 0x1.3b2ab6fba385fp-7, 0x1.5d87fe908f9a9p-10,
	0x1.43091303784e4p-13, 0x1.ffcb76785562cp-17, 0x1.62bfe460f8521p-20, 0x1.b6571e2f82e46p-24, 0x1.e5e9f58fa1da7p-28,
}

// magic rounds a number that is added to it: the last bits of the sum hold the whole number.
const magic = 0x1.8p52

// toBase2 splits x times scale into a whole number, in the last bits of k, and the rest r.
func toBase2(x, scale float64) (k uint64, r float64) {
	whole := float64(x*scale) + magic
	return math.Float64bits(whole), math.FMA(x, scale, -(whole - magic))
}

// power returns (2^r - 1) / r.
func power(r float64) float64 {
	p := math.FMA(exp2[9], r, exp2[8])
	p = math.FMA(p, r, exp2[7])
	p = math.FMA(p, r, exp2[6])
	p = math.FMA(p, r, exp2[5])
	p = math.FMA(p, r, exp2[4])
	p = math.FMA(p, r, exp2[3])
	p = math.FMA(p, r, exp2[2])
	p = math.FMA(p, r, exp2[1])
	return math.FMA(p, r, exp2[0])
}

// expOf returns e to the power of x. The result must be a normal float64.
func expOf(x float64) float64 {
	k, r := toBase2(x, math.Log2E)
	return math.Float64frombits(math.Float64bits(math.FMA(power(r), r, 1)) + k<<52)
}

// tanhOf returns (e^2x - 1) / (e^2x + 1). e^2x - 1 is computed as 2^k (2^r - 1) + 2^k - 1, which is
// exact enough for small x.
func tanhOf(x float64) float64 {
	k, r := toBase2(x, 2*math.Log2E)
	scale := math.Float64frombits(math.Float64bits(1) + k<<52)
	p := math.FMA(float64(power(r)*r), scale, scale-1)
	return p / (p + 2)
}

// logs are the coefficients of log((1+s)/(1-s)) = 2s + s (logs[0] s^2 + logs[1] s^4 + ...), which
// package math uses too. (Source: FreeBSD's e_log.c.)
var logs = [...]float64{
	6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
	1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
}

// The logarithm of 2, in two parts.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// logOf returns the logarithm of v = m 2^e as e log 2 + log m, where m is from sqrt(1/2) to sqrt 2.
// Converted to float64, no float32 is subnormal.
func logOf(v float32) float32 {
	switch {
	case v == 0:
		return float32(math.Inf(-1))
	case v < 0:
		return float32(math.NaN())
	case !(v < float32(math.Inf(1))):
		return v
	}
	const root = 0x3fe6a09e << 32 // sqrt(1/2)
	x := math.Float64bits(float64(v))
	e := (x + 1023<<52 - root) >> 52
	f := math.Float64frombits(x-e<<52+1023<<52) - 1
	k := float64(int64(e) - 1023)
	s := f / (f + 2)
	r := float64(s * s)
	p := math.FMA(logs[6], r, logs[5])
	p = math.FMA(p, r, logs[4])
	p = math.FMA(p, r, logs[3])
	p = math.FMA(p, r, logs[2])
	p = math.FMA(p, r, logs[1])
	p = math.FMA(p, r, logs[0])
	square := float64(float64(f*0.5) * f)
	p = math.FMA(float64(p*r)+square, s, -square)
	p = math.FMA(k, ln2Low, p) + f
	return float32(math.FMA(k, ln2High, p))
}

// Exponents below these have results near or below the smallest normal number. Such a weight
// matters only where it is multiplied by infinity, so a weight other than 0 must not become 0.
const (
	leastExponent = -745.13321910194110842 // the power of a lesser exponent is 0, as in math.Exp
	smallExponent = -708                   // the power of a lesser exponent is computed as e^-708
)

// weight returns e to the power of a - b, or 1 if they are equal, even if infinite.
func weight(a, b float32) float64 {
	if a == b {
		return 1
	}
	x := float64(a) - float64(b)
	if x < leastExponent {
		return 0
	}
	return expOf(max(x, smallExponent))
}
