package arith

import (
	"math"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/vector"
)

// ordinary is the set of floating-point types that Go computes with.
type ordinary interface{ float32 | float64 }

// floatOps computes ops on floating-point numbers. The operands after the first may be single
// numbers if takesNumbers says so.
func floatOps[T ordinary](o op, dst []T, x [3][]T) error {
	switch a, b := x[0], x[1]; ops[o].family {
	case ofPairs:
		if len(b) == 1 {
			vector.DoNumber(ops[o].vector, dst, a, b[0])
		} else {
			vector.Do(ops[o].vector, dst, a, b)
		}
	case ofQuotients:
		divideFloats(o, dst, a, b)
	case ofOne:
		if o != opSign {
			vector.Do(ops[o].vector, dst, a, nil)
			break
		}
		for i, v := range a[:len(dst)] {
			switch {
			case v > 0:
				v = 1
			case v < 0:
				v = -1
			}
			dst[i] = v // a zero or NaN stays
		}
	case ofFunctions:
		switch dst := any(dst).(type) {
		case []float32:
			singleFunctions(o, dst, any(a).([]float32))
		case []float64:
			doubleFunctions(o, dst, any(a).([]float64))
		}
	default:
		mixFloats(o, dst, x)
	}
	return nil
}

// fieldOps computes sums, products and quotients of complex numbers.
func fieldOps[T complex64 | complex128](o op, dst, a, b []T) {
	b = b[:len(dst)]
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
	}
}

// divideFloats computes floored division, remainder and power.
func divideFloats[T ordinary](o op, dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	switch o {
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
	}
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

// The functions Exp, Log, Tanh and Sigmoid are computed in float64, and rounded once.
func singleFunctions(o op, dst, a []float32) {
	switch o {
	case opExp:
		vector.Exp(dst, a)
	case opLog:
		vector.Log(dst, a)
	case opTanh:
		vector.Tanh(dst, a)
	case opSigmoid:
		vector.Sigmoid(dst, a)
	}
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

// mixFloats computes ops of three numbers. A product is rounded before it is added, on every
// machine.
func mixFloats[T ordinary](o op, dst []T, x [3][]T) {
	if o == opClamp && len(x[1]) == 1 {
		vector.Clamp(dst, x[0], x[1][0], x[2][0])
		return
	}
	a, b, c := x[0][:len(dst)], x[1][:len(dst)], x[2][:len(dst)]
	switch o {
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
	a := x[0][:len(dst)]
	switch o {
	case opAdd, opSub, opMul, opDiv:
		fieldOps(o, dst, a, x[1])
	case opNeg:
		for i := range dst {
			dst[i] = -a[i]
		}
	case opAddCMul:
		b, c := x[1][:len(dst)], x[2][:len(dst)]
		for i := range dst {
			dst[i] = a[i] + b[i]*c[i]
		}
	}
	return nil
}

// A widening converts between a 16-bit format and float32.
type widening struct {
	widen  func(dst []float32, src []uint16)
	narrow func(dst []uint16, src []float32)
}

// halves returns the ops on 16-bit floats, computed in float32.
func halves(w widening) slicer[uint16, uint16] {
	return func(o op, dst []uint16, x [3][]uint16) error {
		room := scratches.Get().(*scratch)
		defer scratches.Put(room)
		var wide [3][]float32
		for i, s := range x {
			wide[i], _ = cast.Slice[float32](room[i][:4*len(s)])
			w.widen(wide[i], s)
		}
		to, _ := cast.Slice[float32](room[3][:4*len(dst)])
		err := floatOps(o, to, wide)
		w.narrow(dst, to)
		return err
	}
}
