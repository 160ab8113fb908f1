package tensor

import (
	"fmt"
	"math"
	"math/cmplx"

	"github.com/go-tensordict/tensordict/shape"
)

// A Tolerance says when two numbers that differ count as equal. With the zero Tolerance they never
// do: NaN differs from itself, and 0 equals -0.
type Tolerance struct {
	Absolute float64 // a and b count as equal if |a-b| <= Absolute + Relative*max(|a|, |b|)
	Relative float64
	EqualNaN bool // NaN counts as equal to NaN
}

// near reports whether two numbers count as equal.
func (tol Tolerance) near(a, b complex128) bool {
	switch {
	case a == b:
		return true
	case cmplx.IsNaN(a) || cmplx.IsNaN(b):
		return tol.EqualNaN && cmplx.IsNaN(a) && cmplx.IsNaN(b)
	case cmplx.IsInf(a) || cmplx.IsInf(b):
		return false
	}
	return cmplx.Abs(a-b) <= tol.Absolute+tol.Relative*max(cmplx.Abs(a), cmplx.Abs(b))
}

// exact reports whether numbers that differ never count as equal.
func (tol Tolerance) exact() bool { return tol.Absolute == 0 && tol.Relative == 0 }

// An ElementDiff is a position at which two tensors differ.
type ElementDiff struct {
	Position []int
	A, B     string // the elements, as String prints them
}

// Differing implements [Ops]. An element that both tensors repeat counts once. It returns
// [ErrDType] or shape.ErrShape if the tensors differ in dtype or shape, [ErrKind] if u is nil,
// and other errors if elements cannot be read.
func (v *ops) Differing(u *Tensor, tol Tolerance, n int) (first []ElementDiff, count int, err error) {
	t := (*Tensor)(v)
	switch {
	case u == nil:
		return nil, 0, errNil
	case t.dtype != u.dtype:
		return nil, 0, fmt.Errorf("%w: got %v, want %v", ErrDType, u.dtype, t.dtype)
	case !t.view.Shape.Equal(u.view.Shape):
		return nil, 0, fmt.Errorf("%w: got %v, want %v", shape.ErrShape, u.view.Shape, t.view.Shape)
	}
	a, b := narrowed(t, u)
	at, count, err := far(a, b, tol, n)
	if err != nil {
		return nil, 0, err
	}
	for _, i := range at {
		d := ElementDiff{Position: a.view.Shape.Position(i)}
		if d.A, err = t.at(d.Position).itemText(); err != nil {
			return nil, 0, err
		}
		if d.B, err = u.at(d.Position).itemText(); err != nil {
			return nil, 0, err
		}
		first = append(first, d)
	}
	return first, count, nil
}

// far returns the row-major numbers of the first n elements in which t and u differ by more than a
// tolerance, and the count of all such elements. t and u have the same dtype and shape.
func far(t, u *Tensor, tol Tolerance, n int) (at []int, count int, err error) {
	switch t.dtype {
	case Bool:
		return farIn(t, u, n, func(a, b bool) bool { return a != b })
	case Uint8:
		return farIn(t, u, n, farInts[uint8](tol))
	case Uint16:
		return farIn(t, u, n, farInts[uint16](tol))
	case Uint32:
		return farIn(t, u, n, farInts[uint32](tol))
	case Uint64:
		return farIn(t, u, n, farInts[uint64](tol))
	case Int8:
		return farIn(t, u, n, farInts[int8](tol))
	case Int16:
		return farIn(t, u, n, farInts[int16](tol))
	case Int32:
		return farIn(t, u, n, farInts[int32](tol))
	case Int64:
		return farIn(t, u, n, farInts[int64](tol))
	case Float16:
		return farIn(t, u, n, func(a, b F16) bool { return !tol.near(complex(a.Float64(), 0), complex(b.Float64(), 0)) })
	case BFloat16:
		return farIn(t, u, n, func(a, b BF16) bool { return !tol.near(complex(a.Float64(), 0), complex(b.Float64(), 0)) })
	case Float32:
		return farIn(t, u, n, func(a, b float32) bool { return !tol.near(complex(float64(a), 0), complex(float64(b), 0)) })
	case Float64:
		return farIn(t, u, n, func(a, b float64) bool { return !tol.near(complex(a, 0), complex(b, 0)) })
	case Complex64:
		return farIn(t, u, n, func(a, b complex64) bool { return !tol.near(complex128(a), complex128(b)) })
	}
	return farIn(t, u, n, func(a, b complex128) bool { return !tol.near(a, b) })
}

// farInts compares integers without converting them to float64, which would round them.
func farInts[T uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64](tol Tolerance) func(a, b T) bool {
	return func(a, b T) bool {
		if a == b || tol.exact() {
			return a != b
		}
		apart := uint64(max(a, b)) - uint64(min(a, b)) // right for negative ones too
		most := tol.Absolute + tol.Relative*max(math.Abs(float64(a)), math.Abs(float64(b)))
		near := most >= 1<<64 || most >= 0 && apart <= uint64(most)
		return !near
	}
}

func farIn[T Elem](t, u *Tensor, n int, far func(a, b T) bool) (at []int, count int, err error) {
	err = readBoth(t, u, func(a, b []T) {
		for i, v := range a {
			if !far(v, b[i]) {
				continue
			}
			if count++; count <= n {
				at = append(at, i)
			}
		}
	})
	return at, count, err
}
