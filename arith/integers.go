package arith

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/go-tensordict/tensordict/tensor"
)

// ErrDivide is returned for a division of integers by zero.
var ErrDivide = errors.New("division of integers by zero")

// integerOps computes ops on integers. A result that T does not hold is an error. The loops of sums
// have no branch, since adding is as fast as memory.
func integerOps[T integers](o op, dst []T, x [3][]T) (err error) {
	a, b, c := x[0][:len(dst)], x[1], x[2]
	if ops[o].family != ofOne {
		b = b[:len(dst)]
	}
	var high T // its highest bit is set once a sum wraps around
	var wrapped, w uint8
	switch o {
	case opAdd:
		b := b[:len(dst)] // so that no index is checked
		for i := range dst {
			x, y := a[i], b[i]
			s := x + y
			dst[i], high = s, high|carry(x, y, s)
		}
		if highest(high) {
			return tooLarge(a, b, add)
		}
	case opSub:
		b := b[:len(dst)]
		for i := range dst {
			x, y := a[i], b[i]
			s := x - y
			dst[i], high = s, high|carry(s, y, x)
		}
		if highest(high) {
			return tooLarge(a, b, sub)
		}
	case opMul:
		b := b[:len(dst)]
		for i := range dst {
			dst[i], w = mul(a[i], b[i])
			wrapped |= w
		}
		if wrapped != 0 {
			return tooLarge(a, b, mul)
		}
	case opFloorDiv, opMod, opPow:
		for i := range dst {
			switch o {
			case opFloorDiv:
				dst[i], err = floorDivInteger(a[i], b[i])
			case opMod:
				dst[i], err = modInteger(a[i], b[i])
			case opPow:
				dst[i], err = powInteger(a[i], b[i])
			}
			if err != nil {
				return err
			}
		}
	case opMinimum:
		for i, v := range b {
			dst[i] = min(a[i], v)
		}
	case opMaximum:
		for i, v := range b {
			dst[i] = max(a[i], v)
		}
	case opNeg, opAbs:
		for i, v := range a {
			if o == opNeg || v < 0 {
				if dst[i], w = sub(0, v); w != 0 {
					return beyond(v)
				}
				continue
			}
			dst[i] = v
		}
	case opSign:
		for i, v := range a {
			dst[i] = T(bit(v > 0)) - T(bit(v < 0))
		}
	case opRelu:
		for i, v := range a {
			dst[i] = max(v, 0)
		}
	case opClamp:
		for i, v := range c[:len(dst)] {
			dst[i] = min(max(a[i], b[i]), v)
		}
	case opAddCMul:
		for i, v := range c[:len(dst)] {
			p, wp := mul(b[i], v)
			s, ws := add(a[i], p)
			if wp|ws != 0 {
				return beyond(a[i], b[i], v)
			}
			dst[i] = s
		}
	default: // floor, ceil, round, trunc
		copy(dst, a)
	}
	return nil
}

// tooLarge returns the error of the first pair of numbers whose result, by fn, T does not hold.
func tooLarge[T integers](a, b []T, fn func(a, b T) (T, uint8)) error {
	for i := range a {
		if _, wrapped := fn(a[i], b[i]); wrapped != 0 {
			return beyond(a[i], b[i])
		}
	}
	return nil
}

// carry has its highest bit set if the sum s of x and y wraps around: for signed integers it is
// computed from the signs, for unsigned integers from the carry.
func carry[T integers](x, y, s T) T {
	if signed[T]() {
		return (s ^ x) & (s ^ y)
	}
	return x&y | (x|y)&^s
}

// signed reports whether T is signed.
func signed[T integers]() bool { return ^T(0) < 0 }

// highest reports whether the highest bit of v is set.
func highest[T integers](v T) bool { return v < 0 || v > ^T(0)>>1 && !signed[T]() }

// beyond returns the error of operands whose result T does not hold.
func beyond[T integers](operands ...T) error {
	wider := "wider signed"
	if tensor.DTypeOf[T]().Size() == 8 {
		wider = "floating-point"
	}
	return fmt.Errorf("%w: the result for %v overflows %v: Cast to a %s dtype first",
		tensor.ErrDType, operands, tensor.DTypeOf[T](), wider)
}

// add returns a+b, and 1 if the sum wraps around.
func add[T integers](a, b T) (T, uint8) {
	s := a + b
	return s, bit((s < a) != (b < 0))
}

// sub returns a-b, and 1 if the difference wraps around.
func sub[T integers](a, b T) (T, uint8) {
	s := a - b
	return s, bit((s > a) != (b < 0))
}

// mul returns a*b, and 1 if the product wraps around.
func mul[T integers](a, b T) (T, uint8) {
	p := a * b
	wide := int64(a) * int64(b)
	if int64(T(wide)) == wide && small(a) && small(b) {
		return p, 0
	}
	return p, mulWraps(a, b)
}

// small reports whether |v| is below 1<<31, so that int64 holds the product of two such numbers.
func small[T integers](v T) bool { return magnitude(v) < 1<<31 }

// mulWraps returns 1 if T does not hold a*b.
func mulWraps[T integers](a, b T) uint8 {
	if a == 0 || b == 0 {
		return 0
	}
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	p := a * b
	return bit(hi != 0 || magnitude(p) != lo || (p < 0) != ((a < 0) != (b < 0)))
}

// magnitude returns the absolute value of v.
func magnitude[T integers](v T) uint64 {
	if v < 0 {
		return -uint64(int64(v))
	}
	return uint64(v)
}

// bit returns 1 for true, 0 for false.
func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func floorDivInteger[T integers](a, b T) (T, error) {
	switch {
	case b == 0:
		return 0, fmt.Errorf("%w: got %v // 0", ErrDivide, a)
	case b+1 == 0 && b < 0:
		v, wrapped := sub(0, a)
		if wrapped != 0 {
			return 0, beyond(a, b)
		}
		return v, nil
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q, nil
}

func modInteger[T integers](a, b T) (T, error) {
	if b == 0 {
		return 0, fmt.Errorf("%w: got %v mod 0", ErrDivide, a)
	}
	r := a % b
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r, nil
}

// powInteger computes a power by repeated squaring.
func powInteger[T integers](a, n T) (T, error) {
	if n < 0 {
		return 0, fmt.Errorf("%w: got exponent %v for %v, want 0 or more: Cast first", tensor.ErrDType, n, tensor.DTypeOf[T]())
	}
	base, exponent := a, n
	out, square, wrapped, w := T(1), a, uint8(0), uint8(0)
	for {
		if n&1 == 1 {
			out, w = mul(out, square)
			wrapped |= w
		}
		if n >>= 1; n == 0 || wrapped != 0 {
			break
		}
		square, w = mul(square, square)
		wrapped |= w
	}
	if wrapped != 0 {
		return 0, beyond(base, exponent)
	}
	return out, nil
}
