package arith

import (
	"math"

	"github.com/go-tensordict/tensordict/internal/vector"
)

// ordinary is the set of floating-point types that Go computes with.
type ordinary interface{ float32 | float64 }

// singles are the functions that are computed in float64, and rounded once to float32.
var singles = [...]func(dst, a []float32){opExp: vector.Exp, opLog: vector.Log, opTanh: vector.Tanh, opSigmoid: vector.Sigmoid}

// floatOps computes ops on floating-point numbers. The operands after the first may be single
// numbers if byChunk gives such. A product is rounded before it is added, on every machine.
func floatOps[T ordinary](o op, dst []T, x [3][]T) error {
	a, b, c, f := x[0], x[1], x[2], ops[o].family
	switch {
	case f == ofPairs && len(b) == 1:
		vector.DoNumber(ops[o].vector, dst, a, b[0])
		return nil
	case f == ofPairs, f == ofOne && o != opSign:
		vector.Do(ops[o].vector, dst, a, b)
		return nil
	case f == ofFunctions:
		switch dst := any(dst).(type) {
		case []float32:
			singles[o](dst, any(a).([]float32))
		case []float64:
			doubleFunctions(o, dst, any(a).([]float64))
		}
		return nil
	case o == opClamp && len(b) == 1:
		vector.Clamp(dst, a, b[0], c[0])
		return nil
	case f == ofQuotients:
		b = b[:len(dst)]
	case f == ofThree:
		b, c = b[:len(dst)], c[:len(dst)]
	}
	a = a[:len(dst)]
	switch o {
	case opSign:
		for i, v := range a {
			switch {
			case v > 0:
				v = 1
			case v < 0:
				v = -1
			}
			dst[i] = v // a zero or NaN stays
		}
	case opFloorDiv:
		for i := range dst {
			dst[i] = T(floorDiv(float64(a[i]), float64(b[i])))
		}
	case opMod:
		for i := range dst {
			dst[i] = T(floorMod(float64(a[i]), float64(b[i])))
		}
	case opPow:
		for i := range dst {
			x, y := float64(a[i]), float64(b[i])
			if math.Abs(x) < smallestNormal {
				dst[i] = T(powSmall(x, y))
				continue
			}
			dst[i] = T(math.Pow(x, y))
		}
	case opClamp:
		for i := range dst {
			dst[i] = min(max(a[i], b[i]), c[i])
		}
	case opLerp:
		for i := range dst {
			dst[i] = lerp(a[i], b[i], c[i])
		}
	case opAddCMul:
		for i := range dst {
			dst[i] = a[i] + T(b[i]*c[i])
		}
	}
	return nil
}

// floorMod returns the remainder of floored division. It has the sign of b.
func floorMod(a, b float64) float64 {
	r := math.Mod(a, b)
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r
}

// floorDiv returns the floor of a/b, as if a/b were exact. (Source: torch's div_floor_floating.)
func floorDiv(a, b float64) float64 {
	if b == 0 {
		return a / b
	}
	r := math.Mod(a, b)
	q := (a - r) / b
	if r != 0 && (r < 0) != (b < 0) {
		q--
	}
	if q == 0 {
		return math.Copysign(0, a/b)
	}
	return math.RoundToEven(q) // removes the rounding error of the division
}

func doubleFunctions(o op, dst, a []float64) {
	a = a[:len(dst)]
	switch o {
	case opExp:
		for i, x := range a {
			if isLarge(x) {
				dst[i] = expLarge(x)
				continue
			}
			dst[i] = math.Exp(x)
		}
	case opLog:
		for i, x := range a {
			if x < smallestNormal {
				dst[i] = logSmall(x)
				continue
			}
			dst[i] = math.Log(x)
		}
	case opTanh:
		for i, x := range a {
			dst[i] = math.Tanh(x)
		}
	case opSigmoid:
		for i, x := range a {
			if isLarge(-x) {
				dst[i] = 1 / (1 + expLarge(-x))
				continue
			}
			dst[i] = 1 / (1 + math.Exp(-x))
		}
	}
}

// lerp interpolates from a to b. It returns exactly a where w is 0, and exactly b where w is 1.
func lerp[T ordinary](a, b, w T) T {
	switch {
	case w == 0:
		return a
	case w == 1:
		return b
	case w < 0.5:
		return a + T(w*(b-a))
	}
	return b - T((b-a)*(1-w))
}

// complexOps computes ops on complex numbers.
func complexOps[T complex64 | complex128](o op, dst []T, x [3][]T) error {
	a, b, c := x[0][:len(dst)], x[1], x[2]
	if o != opNeg {
		b = b[:len(dst)]
	}
	switch o {
	case opAdd:
		for i := range dst {
			dst[i] = a[i] + b[i]
		}
	case opSub:
		for i := range dst {
			dst[i] = a[i] - b[i]
		}
	case opMul:
		for i := range dst {
			dst[i] = a[i] * b[i]
		}
	case opDiv:
		for i := range dst {
			dst[i] = a[i] / b[i]
		}
	case opNeg:
		for i := range dst {
			dst[i] = -a[i]
		}
	case opAddCMul:
		for i, v := range c[:len(dst)] {
			dst[i] = a[i] + b[i]*v
		}
	}
	return nil
}
