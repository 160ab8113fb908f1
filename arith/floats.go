package arith

import (
	"math"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/vector"
)

// ordinary is the set of floating-point types that Go computes with.
type ordinary interface{ float32 | float64 }

// floatOps computes ops on floating-point numbers.
func floatOps[T ordinary](o op, dst []T, x [3][]T) error {
	switch {
	case o <= opDiv || o == opMinimum || o == opMaximum:
		floatPairs(o, dst, x[0], x[1])
	case o <= opPow:
		divideFloats(o, dst, x[0], x[1])
	case o <= opRelu:
		signFloats(o, dst, x[0])
	case o <= opTrunc:
		roundFloats(o, dst, x[0])
	case o <= opSigmoid:
		functions(o, dst, x[0])
	default:
		mixFloats(o, dst, x)
	}
	return nil
}

// floatPairs computes the ops of two numbers that package vector has. b may be a single number.
func floatPairs[T ordinary](o op, dst, a, b []T) {
	if len(b) == 1 {
		floatNumber(o, dst, a, b[0])
		return
	}
	switch o {
	case opAdd:
		vector.Add(dst, a, b)
	case opSub:
		vector.Sub(dst, a, b)
	case opMul:
		vector.Mul(dst, a, b)
	case opDiv:
		vector.Div(dst, a, b)
	case opMinimum:
		vector.Minimum(dst, a, b)
	case opMaximum:
		vector.Maximum(dst, a, b)
	}
}

// floatNumber is floatPairs with a single number b.
func floatNumber[T ordinary](o op, dst, a []T, b T) {
	switch o {
	case opAdd:
		vector.AddNumber(dst, a, b)
	case opSub:
		vector.SubNumber(dst, a, b)
	case opMul:
		vector.MulNumber(dst, a, b)
	case opDiv:
		vector.DivNumber(dst, a, b)
	case opMinimum:
		vector.MinimumNumber(dst, a, b)
	case opMaximum:
		vector.MaximumNumber(dst, a, b)
	}
}

// fieldOps computes sums, products and quotients of complex numbers. b may be a single number.
func fieldOps[T complex64 | complex128](o op, dst, a, b []T) {
	if len(b) == 1 {
		fieldNumber(o, dst, a, b[0])
		return
	}
	a, b = a[:len(dst)], b[:len(dst)]
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

// fieldNumber is fieldOps with a single number b.
func fieldNumber[T complex64 | complex128](o op, dst, a []T, b T) {
	a = a[:len(dst)]
	switch o {
	case opAdd:
		for i := range dst {
			dst[i] = a[i] + b
		}
	case opSub:
		for i := range dst {
			dst[i] = a[i] - b
		}
	case opMul:
		for i := range dst {
			dst[i] = a[i] * b
		}
	case opDiv:
		for i := range dst {
			dst[i] = a[i] / b
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

// signFloats computes the ops that change or read signs.
func signFloats[T ordinary](o op, dst, a []T) {
	switch o {
	case opNeg:
		vector.Neg(dst, a)
	case opAbs:
		vector.Abs(dst, a)
	case opRelu:
		vector.Relu(dst, a)
	case opSign:
		for i, v := range a[:len(dst)] {
			dst[i] = signOf(v)
		}
	}
}

// signOf returns -1, 1, or v itself if it is a zero or NaN.
func signOf[T ordinary](v T) T {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return v
}

// roundFloats computes the ops that round to whole numbers.
func roundFloats[T ordinary](o op, dst, a []T) {
	switch o {
	case opFloor:
		vector.Floor(dst, a)
	case opCeil:
		vector.Ceil(dst, a)
	case opRound:
		vector.Round(dst, a)
	case opTrunc:
		vector.Trunc(dst, a)
	}
}

// functions computes Sqrt, Exp, Log, Tanh and Sigmoid in float64, and rounds once.
func functions[T ordinary](o op, dst, a []T) {
	if o == opSqrt {
		vector.Sqrt(dst, a)
		return
	}
	switch dst := any(dst).(type) {
	case []float32:
		singleFunctions(o, dst, any(a).([]float32))
	case []float64:
		doubleFunctions(o, dst, any(a).([]float64))
	}
}

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
	switch {
	case o <= opDiv:
		fieldOps(o, dst, a, x[1])
	case o == opNeg:
		for i := range dst {
			dst[i] = -a[i]
		}
	case o == opAddCMul:
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

// halves returns the family of ops on 16-bit floats, computed in float32.
func halves(w widening) family[uint16, uint16] {
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
