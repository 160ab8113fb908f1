package tensor

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/shape"
)

// Cast returns a copy of t with another dtype; if t has that dtype, it is a [Tensor.Clone]. Values
// that do not fit follow these rules:
//
//   - integer to integer: a value out of range becomes the dtype's minimum or maximum
//   - floating-point to integer: truncated towards zero; a value out of range becomes the dtype's
//     minimum or maximum, and NaN becomes 0
//   - real number to floating-point: rounded to the nearest, ties to even; a value that is too
//     large becomes infinite
//   - any number to bool: zero becomes false, any other number true
//   - bool to number: false becomes 0 and true becomes 1
//   - real number to complex: the imaginary part is 0
//   - complex to real number: the imaginary part is dropped, and the real part is converted by
//     the rules above
//
// Float16 and bfloat16 are converted through float64. The extra rounding can matter only for
// integers beyond 2^53. Cast returns [ErrDType] if dtype is invalid, or if t holds a bool that is
// neither 0 nor 1.
func (t *Tensor) Cast(dtype DType) (*Tensor, error) {
	out, err := t.cast(dtype)
	return out, errtext.Named("cast", err)
}

// cast is Cast without its name in errors.
func (t *Tensor) cast(dtype DType) (*Tensor, error) {
	switch {
	case dtype == t.dtype:
		return t.Clone()
	case !dtype.valid():
		return nil, fmt.Errorf("%w: got %v", ErrDType, dtype)
	case !t.dtype.valid():
		return nil, errZero
	}
	b, ok := t.solid()
	if !ok || !cast.Aligned(b, t.dtype.Size()) || t.Size() > parallelBytes/dtype.Size() {
		if t.Size() > blockElements || t.Device() == Meta {
			out, err := t.Ops().Leafwise(castKernel(dtype))
			return out, t.whichBool(err)
		}
		c, err := t.Clone() // faster than block by block
		if err != nil {
			return nil, err
		}
		return c.cast(dtype)
	}
	out, err := blank(nil, dtype, t.view.Shape, nil)
	if err != nil {
		return nil, err
	}
	if err := convert(dtype, out.mem.bytes, t.dtype, b); err != nil {
		return nil, t.whichBool(err)
	}
	return out, nil
}

// CastInto is [Tensor.Cast] into dst, which has t's shape and the dtype wanted:
//
//	t [F...], dst [F...]
//
// dst may share t's memory. Then t is first copied to new memory, unless each element of dst
// occupies the same bytes as the element of t it is computed from. CastInto returns
//
//   - [ErrOverlap] if t has more than 64 MiB and would have to be copied first, and both dtypes
//     have the same element size; for dtypes of different sizes there is no limit
//   - shape.ErrShape if the shapes differ
//   - [ErrDType] if t holds a bool that is neither 0 nor 1
//   - the errors of [Transfer]
//
// On an error nothing has changed.
func (t *Tensor) CastInto(dst *Tensor) (err error) {
	defer errtext.Name("cast", &err)
	switch {
	case dst == nil:
		return errNil
	case !dst.dtype.valid():
		return fmt.Errorf("destination: %w", errZero)
	case !t.dtype.valid():
		return errZero
	case dst.dtype != t.dtype:
		return t.whichBool(t.Ops().LeafwiseInto(dst, castKernel(dst.dtype)))
	}
	if err := dst.view.Shape.CheckEqual(t.view.Shape); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	return dst.copyFrom(t)
}

// errZero is the error of an operation on the zero Tensor.
var errZero = fmt.Errorf("%w: got the zero Tensor, which has no dtype", ErrKind)

// castKernel returns the kernel that converts to a dtype. Its name appears in no error.
func castKernel(to DType) *Kernel {
	return &Kernel{
		Check: func(xs []*Tensor, _ int) (DType, shape.Shape, error) { return to, xs[0].view.Shape, nil },
		Fails: func(xs []*Tensor) bool { return xs[0].dtype == Bool },
		Elements: func(b *Block) error { // converts each distinct element once
			l, size := &b.Src[0], b.DType.Size()
			n := len(l.Bytes) / l.DType.Size()
			if err := convert(b.DType, b.Dst[:n*size], l.DType, l.Bytes); err != nil {
				return err
			}
			switch l.Per {
			case PerRow:
				fillRows(b.Dst, n, b.Width*size, size)
			case PerBlock:
				fillRows(b.Dst, n, len(b.Dst), size)
			}
			return nil
		},
	}
}

// convert sets the elements of dst to the elements of src, converted.
func convert(to DType, dst []byte, from DType, src []byte) error {
	if from == Bool {
		if err := CheckBools(src); err != nil {
			return err
		}
	}
	if from == to {
		copy(dst, src)
		return nil
	}
	conversions()[from][to](dst, src)
	return nil
}

// fillRows repeats each of the first n elements of b to fill a row of row bytes. It begins with the
// last row, since a row begins no earlier than its element.
func fillRows(b []byte, n, row, size int) {
	for i := n - 1; i >= 0; i-- {
		cast.Repeat(b[i*row:(i+1)*row], b[i*size:(i+1)*size])
	}
}

// whichBool adds to err, an error of casting t, the position in t of the invalid bool, if err is
// about one.
func (t *Tensor) whichBool(err error) error {
	if t.dtype != Bool || !errors.Is(err, ErrDType) {
		return err
	}
	return cmp.Or(Read(t, func([]bool) {}), err)
}
