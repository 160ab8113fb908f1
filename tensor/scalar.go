package tensor

import (
	"fmt"
	"math"
	"math/cmplx"

	"github.com/go-tensordict/tensordict/shape"
)

// ScalarOf returns a tensor of shape [] that holds v: a bool, a number of a predeclared Go type,
// [F16], [BF16], or a *Tensor with one element. It returns [ErrDType] rather than change a value,
// except that floating-point and complex numbers are rounded to the precision of the dtype:
//
//   - an integer must be exactly representable in dtype
//   - a floating-point number needs one of two kinds of dtype: a floating-point or complex dtype,
//     in which a finite number must stay finite; or an integer dtype or bool, which must hold its
//     value exactly
//   - a complex number needs a complex dtype, in which a finite number must stay finite
//   - a bool needs dtype bool, which also takes the numbers 0 and 1
//
// ScalarOf returns shape.ErrShape for a tensor that does not have exactly one element, and
// [ErrKind] for a value of another type.
func ScalarOf(dtype DType, v any) (*Tensor, error) {
	if !dtype.valid() {
		return nil, fmt.Errorf("%w: got %v", ErrDType, dtype)
	}
	if n, ok := v.(int); ok && 0 <= n && n < 128 && dtype != Bool { // every other dtype holds it
		return Scalar(int64(n)).cast(dtype)
	}
	wide, err := widened(v)
	if err != nil {
		return nil, err
	}
	if !dtype.takes(wide) {
		return nil, dtype.refuses(v, wide.dtype)
	}
	t, err := wide.cast(dtype)
	if err != nil {
		return nil, err
	}
	if !held(t, wide) {
		return nil, dtype.refuses(v, wide.dtype)
	}
	return t, nil
}

// widened returns a scalar as a tensor of the widest dtype of its kind.
func widened(v any) (*Tensor, error) {
	switch v := v.(type) {
	case bool:
		return Scalar(v), nil
	case int:
		return Scalar(int64(v)), nil
	case int8:
		return Scalar(int64(v)), nil
	case int16:
		return Scalar(int64(v)), nil
	case int32:
		return Scalar(int64(v)), nil
	case int64:
		return Scalar(v), nil
	case uint:
		return Scalar(uint64(v)), nil
	case uint8:
		return Scalar(uint64(v)), nil
	case uint16:
		return Scalar(uint64(v)), nil
	case uint32:
		return Scalar(uint64(v)), nil
	case uint64:
		return Scalar(v), nil
	case F16:
		return Scalar(v.Float64()), nil
	case BF16:
		return Scalar(v.Float64()), nil
	case float32:
		return Scalar(float64(v)), nil
	case float64:
		return Scalar(v), nil
	case complex64:
		return Scalar(complex128(v)), nil
	case complex128:
		return Scalar(v), nil
	case *Tensor:
		return widenedTensor(v)
	}
	return nil, fmt.Errorf("%w: got %T, want a number, a bool or a tensor with one element", ErrKind, v)
}

func widenedTensor(t *Tensor) (*Tensor, error) {
	if t == nil {
		return nil, errNil
	}
	if t.Size() != 1 {
		return nil, fmt.Errorf("%w: got %v, want one element", shape.ErrShape, t.view.Shape)
	}
	if t.Device() == Meta {
		return nil, ErrMeta
	}
	one, err := t.Reshape()
	if err != nil {
		return nil, err
	}
	switch {
	case t.dtype == Bool:
		bit, err := Item[bool](one)
		return Scalar(bit), err
	case t.dtype == Uint64:
		return one.Clone()
	case t.dtype.IsInteger():
		return one.cast(Int64)
	case t.dtype.IsFloat():
		return one.cast(Float64)
	}
	return one.cast(Complex128)
}

// takes reports whether d can hold scalars of the kind of wide; for integers and floating-point
// numbers, whether d's range includes this one.
func (d DType) takes(wide *Tensor) bool {
	switch wide.dtype {
	case Bool:
		return d == Bool
	case Complex128:
		return d.IsComplex()
	case Float64:
		f, _ := Item[float64](wide)
		switch {
		case d == Uint64:
			return f >= 0 && f < 1<<64
		case d.IsInteger():
			return f >= -1<<63 && f < 1<<63
		}
	}
	return true
}

// refuses returns the error that d does not hold the value of v, a scalar of dtype wide.
func (d DType) refuses(v any, wide DType) error {
	switch {
	case wide == Bool:
		return fmt.Errorf("%w: got %v, want a number for %v", ErrDType, v, d)
	case d == Bool:
		return fmt.Errorf("%w: got %v, want a bool, 0 or 1", ErrDType, v)
	case wide == Complex128 && !d.IsComplex():
		return fmt.Errorf("%w: got %v, want a real number for %v", ErrDType, v, d)
	case wide.IsInteger() == d.IsInteger():
		return fmt.Errorf("%w: got %v, which is out of range for %v", ErrDType, v, d)
	}
	return fmt.Errorf("%w: got %v, which %v does not represent exactly", ErrDType, v, d)
}

// held reports whether t, which is wide cast to another dtype, kept the value, up to the precision
// of floating-point numbers.
func held(t, wide *Tensor) bool {
	back, err := t.cast(wide.dtype)
	if err != nil {
		return false
	}
	switch wide.dtype {
	case Bool:
		return true
	case Complex128:
		was, _ := Item[complex128](wide)
		is, _ := Item[complex128](back)
		return cmplx.IsInf(was) || cmplx.IsNaN(was) || !cmplx.IsInf(is)
	case Float64:
		was, _ := Item[float64](wide)
		is, _ := Item[float64](back)
		if t.dtype.IsFloat() || t.dtype.IsComplex() {
			return math.IsInf(was, 0) || !math.IsInf(is, 0)
		}
		return was == is
	}
	return back.Equal(wide) && heldFloat(t, wide)
}

// heldFloat reports whether t, if it holds floating-point numbers, holds exactly the integer of
// wide. An integer that was rounded up beyond the integer range does not come back as itself.
func heldFloat(t, wide *Tensor) bool {
	if t.dtype.IsInteger() || t.dtype == Bool {
		return true
	}
	f, err := t.cast(Float64)
	if err != nil {
		return false
	}
	v, _ := Item[float64](f)
	return wide.dtype == Int64 && v < 1<<63 || wide.dtype == Uint64 && v < 1<<64
}
