package tensor

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
)

// Of returns the elements of t, row-major, as a slice of its own memory. The slice is a loan: for a
// tensor on a mapped file it is valid until the file is closed, it keeps the file mapped until
// then, and writing to it when the file was opened for reading is a fault that ends the program;
// [Read] and [Write] have none of that. A tensor that is made of the slice is not known to share
// memory with t. Of returns [ErrDType] if t does not hold T, or holds a bool
// that is neither 0 nor 1, for which it looks at every byte, and [ErrLayout] if the elements do not
// lie in order without gaps, which [Tensor.Contiguous] mends, or are not aligned for T, which
// [Tensor.Clone] does.
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

// typed returns the elements of a contiguous tensor whose memory is b.
func typed[T Elem](t *Tensor, b []byte) ([]T, error) { return typedBytes[T](t.dtype, t.own(b)) }

// typedBytes returns the elements of a dtype, that of T, that bytes hold.
func typedBytes[T Elem](d DType, b []byte) ([]T, error) {
	if d == Bool { // a file may hold any byte, a Go bool must not
		if i := notBool(b); i >= 0 {
			return nil, fmt.Errorf("%w: got byte %d as element %d of bool, want 0 or 1", ErrDType, b[i], i)
		}
	}
	s, ok := cast.Slice[T](b)
	if !ok {
		return nil, fmt.Errorf("%w: the memory is not aligned for %v: call Clone first", ErrLayout, d)
	}
	return s, nil
}

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

// Read calls fn with the elements of t, row-major. They are t's own where they lie so, and a copy
// else; fn must not write to them, nor keep them after it returns. Mapped memory is borrowed for
// the call, and a fault in it, as when another process cut the file, is an error; fn may then have
// seen zeros. Read returns [ErrDType] if t does not hold T, or holds a bool that is neither 0 nor
// 1.
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

// Write calls fn with the elements of t, row-major, for it to change. If they do not lie so, it is
// given a copy, which is copied back when it returns. fn must not keep the slice. Mapped memory is
// borrowed for the call, and a fault in it is an error as in [Read]; then, and if fn panics, some
// elements may have changed. Write returns [ErrDType] as [Read] does, [ErrReadOnly], and
// [ErrLayout] if two elements are one in memory.
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
	return t.CopyFrom(c)
}

// useTyped calls fn with t's own elements, unless they do not lie in order, aligned, which is no
// error.
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

// Item returns the element of t at a position, one number for each dim, negative ones from the end;
// without a position, the only element. It returns [ErrDType] if t does not hold T,
// shapeops.ErrIndex if there is no such position, and shapeops.ErrShape if there is no position and
// t has more than one element or none.
func Item[T Elem](t *Tensor, pos ...int) (v T, err error) {
	if err := checkElem[T](t); err != nil {
		return v, err
	}
	at := t.view.Offset
	if len(pos) > 0 {
		at, err = t.view.At(pos...)
	} else if t.Size() != 1 {
		err = fmt.Errorf("%w: got %v %v, want one element", shapeops.ErrShape, t.dtype, t.view.Shape)
	}
	if err != nil {
		return v, err
	}
	one := Tensor{t.dtype, shapeops.View{Offset: at}, t.mem}
	err = Read(&one, func(s []T) { v = s[0] })
	return v, err
}

// Elements returns an iterator over the elements of t, in row-major order whatever its layout. It
// returns [ErrDType] if t does not hold T. A tensor that is not contiguous or not in Go memory is
// copied first.
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

// CheckBools returns [ErrDType] if a byte is neither 0 nor 1: an element of a [Lane] of bools that
// a file may hold, and a kernel must refuse.
func CheckBools(b []byte) error {
	if i := notBool(b); i >= 0 {
		return fmt.Errorf("%w: got byte %d as an element of bool, want 0 or 1", ErrDType, b[i])
	}
	return nil
}
