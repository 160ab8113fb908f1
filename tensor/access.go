package tensor

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/shape"
)

// Of returns the elements of t, row-major, as a slice of t's own memory.
//
// The slice is a loan. If t lies in a mapped file, the slice is valid until the file is closed, and
// it keeps the file mapped until then. Writing to the slice of a file that was opened for reading
// is a fault that ends the program. [Tensor.SharesMemory] and the checks for overlap do not detect
// that a tensor made from the slice shares lent memory with t. With [Read] and [Write], which
// borrow the memory only for the call, a fault is an error.
//
// Of returns
//
//   - [ErrDType] if t does not hold T, or holds a bool that is neither 0 nor 1; for bools it
//     reads every byte
//   - [ErrLayout] if the elements are not contiguous: call [Tensor.Contiguous] first
//   - [ErrLayout] if they are not aligned for T: call [Tensor.Clone] first
func Of[T Elem](t *Tensor) ([]T, error) {
	if err := checkElem[T](t); err != nil {
		return nil, err
	}
	if !t.view.IsContiguous() {
		return nil, fmt.Errorf("%w: elements are not contiguous: call Contiguous first", ErrLayout)
	}
	if t.Size() == 0 {
		return []T{}, nil
	}
	var failed error
	err := t.use(func(b []byte) { _, failed = typed[T](t, b) })
	if err = cmp.Or(failed, err); err != nil {
		return nil, err
	}
	b, err := t.mem.pin()
	if err != nil {
		return nil, err
	}
	return typed[T](t, b)
}

// Slice returns the elements of t, row-major, for reading. The slice aliases t if t is contiguous,
// aligned and in Go memory; otherwise, and for a mapped file, it is a copy, which stays valid after
// the file is closed. To change elements, use [Write]; [Of] never copies. Slice returns the errors
// of [Read].
func Slice[T Elem](t *Tensor) (s []T, err error) {
	if t != nil && t.Lender() != nil {
		err = Read(t, func(own []T) { s = slices.Clone(own) })
		return s, err
	}
	s, err = Of[T](t)
	if errors.Is(err, ErrLayout) { // strided, or not aligned for T
		if t, err = t.Clone(); err == nil {
			s, err = Of[T](t)
		}
	}
	return s, err
}

// typed returns the elements of a contiguous tensor; b is its memory.
func typed[T Elem](t *Tensor, b []byte) ([]T, error) { return typedBytes[T](t.dtype, t.own(b)) }

// typedBytes returns b as elements of T, whose dtype is d.
func typedBytes[T Elem](d DType, b []byte) ([]T, error) {
	if d == Bool { // a file may hold any byte, a Go bool must not
		if i := notBool(b); i >= 0 {
			return nil, notBoolError(fmt.Sprintf("got byte %d for bool element %d, want 0 or 1", b[i], i))
		}
	}
	s, ok := cast.Slice[T](b)
	if !ok {
		return nil, fmt.Errorf("%w: the memory is not aligned for %v: call Clone first", ErrLayout, d)
	}
	return s, nil
}

// A notBoolError is the error for a byte that is not a bool. It matches [ErrDType] and the
// ErrCorrupt of the packages of files, since such a byte comes from a file.
type notBoolError string

// Error returns the text.
func (e notBoolError) Error() string { return ErrDType.Error() + ": " + string(e) }

// Unwrap returns the errors that it matches.
func (notBoolError) Unwrap() []error { return []error{ErrDType, fileformat.ErrCorrupt} }

// notBool returns the position of the first byte that is neither 0 nor 1, or -1.
func notBool(b []byte) int {
	const high = 0xfefefefefefefefe
	i, order := 0, binary.NativeEndian
	for ; i+32 <= len(b); i += 32 {
		four := b[i : i+32]
		if (order.Uint64(four)|order.Uint64(four[8:])|order.Uint64(four[16:])|order.Uint64(four[24:]))&high != 0 {
			break
		}
	}
	for ; i+8 <= len(b) && order.Uint64(b[i:])&high == 0; i += 8 {
	}
	for ; i < len(b); i++ {
		if b[i] > 1 {
			return i
		}
	}
	return -1
}

// Read calls fn with the elements of t, row-major. The slice aliases t if t is contiguous and
// aligned, otherwise it is a copy. fn must not write to the slice, nor keep it after it returns.
//
// Mapped memory is borrowed for the call. A fault in it, as when another process truncated the
// file, is an error; fn may then have seen zeros. Read returns [ErrDType] if t does not hold T, or
// holds a bool that is neither 0 nor 1.
func Read[T Elem](t *Tensor, fn func(s []T)) error {
	if err := checkElem[T](t); err != nil {
		return err
	}
	if done, err := useTyped(t, memory.borrow, fn); done {
		return err
	}
	s, err := copied[T](t)
	if err == nil {
		fn(s)
	}
	return err
}

// Write calls fn with the elements of t, row-major, which fn may change. The slice aliases t if t
// is contiguous and aligned, otherwise it is a copy, which Write copies back after fn returns. fn
// must not keep the slice.
//
// Mapped memory is borrowed for the call, and a fault in it is an error as in [Read]. After such an
// error, or if fn panics, some elements may have changed. Write returns [ErrDType] as [Read] does,
// [ErrReadOnly], and [ErrLayout] if two elements share memory.
func Write[T Elem](t *Tensor, fn func(s []T)) error {
	if err := checkElem[T](t); err != nil {
		return err
	}
	if err := t.checkWritable(); err != nil {
		return err
	}
	if done, err := useTyped(t, memory.borrowToWrite, fn); done {
		return err
	}
	mem, release, err := t.mem.hold(memory.borrowToWrite)
	if err != nil {
		return err
	}
	defer release()
	t = &Tensor{t.dtype, t.view, mem}
	s, err := copied[T](t)
	if err != nil {
		return err
	}
	fn(s)
	c, err := From(s, t.view.Shape...)
	if err != nil {
		return err
	}
	return t.copyFrom(c)
}

// useTyped calls fn with t's own elements. It returns false, and no error, if they are not
// contiguous and aligned.
func useTyped[T Elem](t *Tensor, borrow func(memory) ([]byte, error), fn func(s []T)) (done bool, err error) {
	if !t.view.IsContiguous() {
		return false, nil
	}
	var failed error
	err = t.useBy(borrow, func(b []byte) {
		var s []T
		if s, failed = typed[T](t, b); failed == nil {
			fn(s)
		}
	})
	if errors.Is(failed, ErrLayout) {
		return false, nil
	}
	return true, cmp.Or(failed, err)
}

// copied returns a copy of t's elements, row-major.
func copied[T Elem](t *Tensor) ([]T, error) {
	c, err := t.elements()
	if err != nil {
		return nil, err
	}
	return typed[T](c, c.mem.bytes)
}

// Item returns the element of t at a position: one number for each dim, negative from the end.
// Without a position it returns the only element. It returns [ErrDType] if t does not hold T,
// shape.ErrIndex if the position is out of range, and shape.ErrShape if no position is given
// and t does not have exactly one element.
func Item[T Elem](t *Tensor, pos ...int) (v T, err error) {
	if err := checkElem[T](t); err != nil {
		return v, err
	}
	at := t.view.Offset
	if len(pos) > 0 {
		at, err = t.view.At(pos...)
	} else if t.Size() != 1 {
		err = fmt.Errorf("%w: got %v %v, want one element", shape.ErrShape, t.dtype, t.view.Shape)
	}
	if err != nil {
		return v, err
	}
	one := Tensor{t.dtype, shape.View{Offset: at}, t.mem}
	err = Read(&one, func(s []T) { v = s[0] })
	return v, err
}

// Elements returns an iterator over the elements of t, in row-major order whatever its layout. It
// returns [ErrDType] if t does not hold T. It copies t first unless t is contiguous and in Go
// memory.
func Elements[T Elem](t *Tensor) (iter.Seq[T], error) {
	if err := checkElem[T](t); err != nil {
		return nil, err
	}
	if t.mem.loan == nil {
		var all []T
		err := Read(t, func(s []T) { all = s })
		return slices.Values(all), err
	}
	all, err := copied[T](t)
	return slices.Values(all), err
}

// CheckBools returns [ErrDType] if a byte of b is neither 0 nor 1. Kernels call it for a [Lane] of
// bools, since a file may hold any byte.
func CheckBools(b []byte) error {
	if i := notBool(b); i >= 0 {
		return notBoolError(fmt.Sprintf("got byte %d for a bool element, want 0 or 1", b[i]))
	}
	return nil
}
