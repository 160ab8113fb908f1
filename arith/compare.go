package arith

import (
	"math"

	"github.com/go-tensordict/tensordict/internal/vector"
	"github.com/go-tensordict/tensordict/tensor"
)

// compareFloats sets dst to 1 where a comparison holds, otherwise to 0. The second operand may be a
// single number.
func compareFloats[T ordinary](o op, dst []uint8, x [3][]T) error {
	if len(x[1]) == 1 && ops[o].family == ofComparisons {
		vector.MarkNumber(ops[o].vector, dst, x[0], x[1][0])
	} else {
		vector.Mark(ops[o].vector, dst, x[0], x[1])
	}
	return nil
}

// compareOps is compareFloats for integers, all of which are finite.
func compareOps[T integers](o op, dst []uint8, x [3][]T) error {
	switch o {
	case opIsNaN:
		clear(dst)
		return nil
	case opIsFinite:
		repeated(dst, 1)
		return nil
	}
	a, b := x[0][:len(dst)], x[1][:len(dst)]
	if o == opGreater || o == opGreaterEqual {
		a, b = b, a
	}
	switch o {
	case opLess, opGreater:
		for i := range dst {
			dst[i] = bit(a[i] < b[i])
		}
	case opLessEqual, opGreaterEqual:
		for i := range dst {
			dst[i] = bit(a[i] <= b[i])
		}
	default:
		equal(o, dst, a, b)
	}
	return nil
}

// equal computes opEqual and opNotEqual.
func equal[T comparable](o op, dst []uint8, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	if o == opEqual {
		for i := range dst {
			dst[i] = bit(a[i] == b[i])
		}
		return
	}
	for i := range dst {
		dst[i] = bit(a[i] != b[i])
	}
}

// complexCompareOps is compareOps for complex numbers, which have no order.
func complexCompareOps[T complex64 | complex128](o op, dst []uint8, x [3][]T) error {
	a := x[0][:len(dst)]
	switch o {
	case opIsNaN:
		for i, v := range a {
			dst[i] = bit(math.IsNaN(real(complex128(v))) || math.IsNaN(imag(complex128(v))))
		}
	case opIsFinite:
		for i, v := range a {
			dst[i] = bit(finite(real(complex128(v))) && finite(imag(complex128(v))))
		}
	default:
		equal(o, dst, a, x[1])
	}
	return nil
}

func finite(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }

// logicOps computes ops on bits.
func logicOps[T integers](o op, dst []T, x [3][]T) error {
	a := x[0][:len(dst)]
	if o == opNot {
		for i := range dst {
			dst[i] = ^a[i]
		}
		return nil
	}
	b := x[1][:len(dst)]
	switch o {
	case opAnd:
		for i := range dst {
			dst[i] = a[i] & b[i]
		}
	case opOr:
		for i := range dst {
			dst[i] = a[i] | b[i]
		}
	case opXor:
		for i := range dst {
			dst[i] = a[i] ^ b[i]
		}
	}
	return nil
}

// boolOps computes ops on bools, each byte of which must be 0 or 1.
func boolOps(o op, dst []uint8, x [3][]uint8) error {
	switch o { // these read no element
	case opIsNaN:
		clear(dst)
		return nil
	case opIsFinite:
		repeated(dst, 1)
		return nil
	}
	for _, s := range x {
		if err := tensor.CheckBools(s); err != nil {
			return err
		}
	}
	switch o {
	case opNot:
		for i, v := range x[0] {
			dst[i] = v ^ 1
		}
	case opEqual, opNotEqual:
		equal(o, dst, x[0], x[1])
	default:
		return logicOps(o, dst, x)
	}
	return nil
}
