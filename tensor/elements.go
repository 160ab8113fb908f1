package tensor

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
)

// Of returns the elements of t, row-major, as a slice of its own memory. The slice is a loan: for a tensor on a mapped
// file it is valid until the file is closed, it keeps the file mapped until then, and writing to it when the file was
// opened for reading is a fault that ends the program. Of returns [ErrDType] if t does not hold T, or holds a bool
// that is neither 0 nor 1, and [ErrLayout] if the elements do not lie in order without gaps, which [Tensor.Contiguous]
// mends, or are not aligned for T, which [Tensor.Clone] does.
func Of[T Elem](t *Tensor) ([]T, error) {
	if err := checkElem[T](t.dtype); err != nil {
		return nil, err
	}
	if !t.view.IsContiguous() {
		return nil, fmt.Errorf("%w: got strides %v for %v, want contiguous elements", ErrLayout, t.view.Strides, t.view.Shape)
	}
	if t.Size() == 0 {
		return []T{}, nil
	}
	var failed error
	if err := t.mem.use(func(b []byte) { _, failed = typed[T](t, b) }); err != nil || failed != nil {
		return nil, errors.Join(err, failed)
	}
	b, err := t.mem.pin()
	if err != nil {
		return nil, err
	}
	s, _ := cast.Slice[T](t.own(b)) // as it was just now
	return s, nil
}

// typed returns the elements of a contiguous tensor whose memory is b.
func typed[T Elem](t *Tensor, b []byte) ([]T, error) {
	b = t.own(b)
	if t.dtype == Bool { // a file may hold any byte, a Go bool must not
		if i := slices.IndexFunc(b, func(b byte) bool { return b > 1 }); i >= 0 {
			return nil, fmt.Errorf("%w: got byte %d as element %d of bool, want 0 or 1", ErrDType, b[i], i)
		}
	}
	s, ok := cast.Slice[T](b)
	if !ok {
		return nil, fmt.Errorf("%w: the memory is not aligned for %v", ErrLayout, t.dtype)
	}
	return s, nil
}

// read calls fn with the elements of t, row-major. They are t's own where they lie so, and a copy else; fn must not
// write to them or keep them.
func read[T Elem](t *Tensor, fn func(s []T)) error {
	if err := checkElem[T](t.dtype); err != nil {
		return err
	}
	var failed error
	use := func(b []byte) {
		var s []T
		if s, failed = typed[T](t, b); failed == nil {
			fn(s)
		}
	}
	if t.view.IsContiguous() {
		if err := t.mem.use(use); err != nil {
			return err
		}
	}
	if t.view.IsContiguous() && failed == nil {
		return nil
	}
	c, err := t.Clone() // in order and aligned
	if err != nil {
		return err
	}
	s, err := typed[T](c, c.mem.bytes)
	if err != nil {
		return err
	}
	fn(s)
	return nil
}

// Item returns the only element of t. It returns [ErrDType] if t does not hold T and shapeops.ErrShape if t has more
// than one element or none.
func Item[T Elem](t *Tensor) (v T, err error) {
	if t.Size() != 1 {
		return v, fmt.Errorf("%w: got %v, want one element", shapeops.ErrShape, t.view.Shape)
	}
	err = read(t, func(s []T) { v = s[0] })
	return v, err
}

// Elements returns an iterator over the elements of t, in row-major order whatever its layout. It returns [ErrDType]
// if t does not hold T. A tensor that is not contiguous or not in Go memory is copied first.
func Elements[T Elem](t *Tensor) (iter.Seq[T], error) {
	if t.mem.lender != nil {
		c, err := t.Clone()
		if err != nil {
			return nil, err
		}
		t = c
	}
	var all []T
	if err := read(t, func(s []T) { all = s }); err != nil {
		return nil, err
	}
	return slices.Values(all), nil
}

// Map returns the tensor of t's shape whose elements are fn of t's. It returns [ErrDType] if t does not hold T.
func Map[T, U Elem](t *Tensor, fn func(T) U) (*Tensor, error) {
	out, err := blank(DTypeOf[U](), t.view.Shape, nil)
	if err != nil {
		return nil, err
	}
	to, _ := cast.Slice[U](out.mem.bytes)
	err = read(t, func(s []T) {
		for i, v := range s {
			to[i] = fn(v)
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
