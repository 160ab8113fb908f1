package tensor

import (
	"bytes"
	"fmt"
	"math/cmplx"
	"slices"
)

// Equal reports whether t and u have the same dtype, shape and values. As everywhere in floating point, NaN differs from
// itself and 0 equals -0. It is false if memory of either was lent and is gone.
func (t *Tensor) Equal(u *Tensor) bool {
	if t.dtype != u.dtype || !t.view.Shape.Equal(u.view.Shape) {
		return false
	}
	switch t.dtype {
	case Float16:
		return equal(t, u, func(a, b F16) bool { return a.Float64() == b.Float64() })
	case BFloat16:
		return equal(t, u, func(a, b BF16) bool { return a.Float64() == b.Float64() })
	case Float32:
		return equal(t, u, same[float32])
	case Float64:
		return equal(t, u, same[float64])
	case Complex64:
		return equal(t, u, same[complex64])
	case Complex128:
		return equal(t, u, same[complex128])
	}
	return equalBytes(t, u)
}

func same[T comparable](a, b T) bool { return a == b }

func equal[T Elem](t, u *Tensor, eq func(a, b T) bool) bool {
	found := false
	err := read(t, func(a []T) {
		if read(u, func(b []T) { found = slices.EqualFunc(a, b, eq) }) != nil {
			found = false
		}
	})
	return err == nil && found
}

// equalBytes compares elements that are equal exactly if their bytes are.
func equalBytes(t, u *Tensor) bool {
	a, err := t.Contiguous()
	if err != nil {
		return false
	}
	b, err := u.Contiguous()
	if err != nil {
		return false
	}
	found := false
	err = a.mem.use(func(p []byte) {
		if b.mem.use(func(q []byte) { found = bytes.Equal(a.own(p), b.own(q)) }) != nil {
			found = false
		}
	})
	return err == nil && found
}

// AllClose reports whether each |t - u| is at most atol + rtol*|u|, after broadcasting u to t; NaN is close to nothing, an
// infinity to itself. Values are compared as complex128, which rounds integers beyond 2^53, in copies of both tensors. It
// returns [ErrDType] if the dtypes differ and shapeops.ErrShape if u does not broadcast to t.
func (t *Tensor) AllClose(u *Tensor, rtol, atol float64) (bool, error) {
	if t.dtype != u.dtype {
		return false, fmt.Errorf("%w: got %v, want %v", ErrDType, u.dtype, t.dtype)
	}
	view, err := u.broadcast(t.view.Shape)
	if err != nil {
		return false, err
	}
	a, err := t.Cast(Complex128)
	if err != nil {
		return false, err
	}
	b, err := (&Tensor{dtype: u.dtype, view: view, mem: u.mem}).Cast(Complex128)
	if err != nil {
		return false, err
	}
	near := func(x, y complex128) bool {
		return x == y || !cmplx.IsInf(y) && cmplx.Abs(x-y) <= atol+rtol*cmplx.Abs(y)
	}
	return equal(a, b, near), nil
}
