package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// odd returns numbers at edges, and those whose minimum, maximum, comparison or rounding by the
// machine is not that of Go.
func odd[T Float]() []T {
	inf := math.Inf(1)
	list := []T{0, T(math.Copysign(0, -1)), 1, -1, 0.5, -0.5, 1.5, 2.5, -3.7, T(inf), T(-inf), 255, 256, 65504, 65520, -104, 89, 88.8, 20}
	if f, ok := any(&list).(*[]float32); ok {
		for _, bits := range []uint32{1, 1<<31 | 1, 0x7fffff, 0x7f7fffff, 0xff7fffff, 0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff, 0x7fc00000, 0xffc00000} {
			*f = append(*f, math.Float32frombits(bits))
		}
	} else {
		list = append(list, T(math.NaN()), T(-math.NaN()), T(math.Float64frombits(1)), T(math.Float64frombits(0x7fefffffffffffff)))
	}
	return list
}

// random returns n numbers, of which many are odd or tie.
func random[T Float](r *rand.Rand, n int) []T {
	list, x := odd[T](), make([]T, n)
	for i := range x {
		switch r.IntN(3) {
		case 0:
			x[i] = list[r.IntN(len(list))]
		case 1:
			x[i] = T(r.IntN(5) - 2)
		default:
			x[i] = T(r.NormFloat64() * 30)
		}
	}
	return x
}

// integers returns n integers of any bits.
func integers[T uint8 | uint16](r *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(r.Uint32())
	}
	return x
}

// element is the set of types of elements.
type element interface {
	float32 | float64 | uint8 | uint16 | int32
}

// same reports whether numbers are equal bit for bit, but for the bits of NaN.
func same[T element](a, b T) bool {
	return a != a && b != b || a == b && math.Signbit(float64(a)) == math.Signbit(float64(b))
}

func requireSame[T element](t testing.TB, want, got []T, about ...any) {
	t.Helper()
	for i := range want {
		if !same(want[i], got[i]) {
			t.Fatalf("element %d of %d: got %v, want %v: %v", i, len(want), got[i], want[i], fmt.Sprint(about...))
		}
	}
}

// plainly calls fn without assembly.
func plainly(fn func()) {
	was := kernels
	kernels = table{}
	defer func() { kernels = was }()
	fn()
}

// needsAssembly skips a test where it would compare nothing.
func needsAssembly(t testing.TB) {
	t.Helper()
	if kernels.exp == nil {
		t.Skip("there is no assembly for this machine, or in this build")
	}
}

// opNames name the ops in tests.
var opNames = [numOps]string{"Add", "Sub", "Mul", "Div", "Minimum", "Maximum", "Neg", "Abs", "Relu", "Sqrt", "Floor", "Ceil", "Round", "Trunc",
	"Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "IsNaN", "IsFinite"}

// numbers are the functions whose results have the type of their operands. A function of a number
// takes b's first, Clamp also the last.
func numbers[T Float]() map[string]func(dst, a, b []T) {
	all := map[string]func(dst, a, b []T){"Clamp": func(dst, a, b []T) { Clamp(dst, a, b[0], b[len(b)-1]) }}
	for o := Add; o <= Trunc; o++ {
		all[opNames[o]] = func(dst, a, b []T) { Do(o, dst, a, b) }
		if !o.alone() {
			all[opNames[o]+"Number"] = func(dst, a, b []T) { DoNumber(o, dst, a, b[0]) }
		}
	}
	return all
}

// singles are those that there are for float32 alone. Scale takes b's first and last.
func singles() map[string]func(dst, a, b []float32) {
	one := func(f func(dst, a []float32)) func(dst, a, b []float32) {
		return func(dst, a, b []float32) { f(dst, a) }
	}
	return map[string]func(dst, a, b []float32){
		"Exp": one(Exp), "Log": one(Log), "Tanh": one(Tanh), "Sigmoid": one(Sigmoid),
		"Scale": func(dst, a, b []float32) { Scale(dst, a, b[0], b[len(b)-1]) },
	}
}

// marks are the functions that make bytes.
func marks[T Float]() map[string]func(dst []uint8, a, b []T) {
	all := map[string]func(dst []uint8, a, b []T){}
	for o := Equal; o < numOps; o++ {
		all[opNames[o]] = func(dst []uint8, a, b []T) { Mark(o, dst, a, b) }
		if !o.alone() {
			all[opNames[o]+"Number"] = func(dst []uint8, a, b []T) { MarkNumber(o, dst, a, b[0]) }
		}
	}
	return all
}
