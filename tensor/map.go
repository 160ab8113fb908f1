package tensor

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shape"
)

// Map returns a new tensor of t's shape, with fn applied to each element of t:
//
//	t [F...] -> [F...]
//
// fn is called for one element after another, in row-major order. If fn panics, Map returns an
// error that names the element, and that wraps the panic value if it is an error. Map returns
// [ErrDType] if t does not hold T, or holds a bool that is neither 0 nor 1, [ErrMeta] if t is on
// device [Meta], and [ErrKind] if t or fn is nil.
func Map[T, U Elem](t *Tensor, fn func(T) U) (*Tensor, error) {
	if err := checkOperand[T](t); err != nil {
		return nil, err
	}
	if fn == nil {
		return nil, errNoFunc
	}
	out, err := blank(nil, DTypeOf[U](), t.view.Shape, nil)
	if err != nil {
		return nil, err
	}
	to, _ := cast.Slice[U](out.mem.bytes)
	err = caught(t.view.Shape, func(at *cursor) error {
		return Read(t, func(s []T) { map1(to, s, fn, at) })
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// MapInto is [Map] into dst, which has t's shape and holds U:
//
//	t [F...], dst [F...]
//
// dst may be t, or overlap it in any way: fn is called for all elements before the first is set. It
// also returns the errors of [Transfer]; on an error nothing has changed.
func MapInto[T, U Elem](dst, t *Tensor, fn func(T) U) error {
	if err := checkOperand[T](t); err != nil {
		return err
	}
	if err := checkResult[U](dst, t.view.Shape); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	out, err := Map(t, fn)
	if err != nil {
		return err
	}
	return dst.CopyFrom(out)
}

// Map2 returns a new tensor of a's shape, with fn applied to the elements of a and of b at each
// position. b broadcasts to a's shape:
//
//	a [F...], b -> [F...]
//
// It is otherwise like [Map], and returns shape.ErrShape if b does not broadcast.
func Map2[A, B, U Elem](a, b *Tensor, fn func(A, B) U) (*Tensor, error) {
	xs, err := operandsOf(fn == nil, operandOf[A](a), operandOf[B](b))
	if err != nil {
		return nil, err
	}
	return mapped(xs, func(b *Block, to []U, at *cursor) {
		x, y := columnOf[A](b, 0), columnOf[B](b, 1)
		for row, to := range rowsOf(b, to, at) {
			map2(to, x.from(row), y.from(row), x.step, y.step, fn, at)
		}
	})
}

// Map3 is [Map2] with a third tensor:
//
//	a [F...], b, c -> [F...]
func Map3[A, B, C, U Elem](a, b, c *Tensor, fn func(A, B, C) U) (*Tensor, error) {
	xs, err := operandsOf(fn == nil, operandOf[A](a), operandOf[B](b), operandOf[C](c))
	if err != nil {
		return nil, err
	}
	return mapped(xs, func(b *Block, to []U, at *cursor) {
		x, y, z := columnOf[A](b, 0), columnOf[B](b, 1), columnOf[C](b, 2)
		for row, to := range rowsOf(b, to, at) {
			map3(to, x.from(row), y.from(row), z.from(row), x.step, y.step, z.step, fn, at)
		}
	})
}

// A cursor is the element that fn is called for: number i after the first done elements.
type cursor struct{ done, i int }

// map1 sets each element of to.
func map1[T, U Elem](to []U, x []T, fn func(T) U, at *cursor) {
	for i := range to {
		at.i = i
		to[i] = fn(x[i])
	}
}

// map2 sets each element of to. It advances x by dx elements and y by dy, mostly 1.
func map2[A, B, U Elem](to []U, x []A, y []B, dx, dy int, fn func(A, B) U, at *cursor) {
	if dx == 1 && dy == 1 {
		for i := range to {
			at.i = i
			to[i] = fn(x[i], y[i])
		}
		return
	}
	j, k := 0, 0
	for i := range to {
		at.i = i
		to[i] = fn(x[j], y[k])
		j, k = j+dx, k+dy
	}
}

// map3 is map2 with a third slice.
func map3[A, B, C, U Elem](to []U, x []A, y []B, z []C, dx, dy, dz int, fn func(A, B, C) U, at *cursor) {
	j, k, l := 0, 0, 0
	for i := range to {
		at.i = i
		to[i] = fn(x[j], y[k], z[l])
		j, k, l = j+dx, k+dy, l+dz
	}
}

var errNoFunc = fmt.Errorf("%w: got a nil function", ErrKind)

// checkOperand returns an error unless t holds elements of T.
func checkOperand[T Elem](t *Tensor) error {
	err := checkElem[T](t)
	if err == nil && t.Device() == Meta {
		err = ErrMeta
	}
	return err
}

// checkResult returns an error unless t has the shape, holds elements of U, and can be written.
func checkResult[U Elem](t *Tensor, shape shape.Shape) error {
	if err := checkOperand[U](t); err != nil {
		return err
	}
	if err := t.view.Shape.CheckEqual(shape); err != nil {
		return err
	}
	return t.checkWritable()
}
