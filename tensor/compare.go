package tensor

import (
	"bytes"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shape"
)

// Equal reports whether t and u have the same dtype, shape and values. As everywhere in floating
// point, NaN differs from itself and 0 equals -0. Equal is also false if elements cannot be read,
// for example because a mapped file was closed; [Tensor.Diff] returns that as an error.
func (t *Tensor) Equal(u *Tensor) bool {
	if u == nil || t.dtype != u.dtype || !t.view.Shape.Equal(u.view.Shape) {
		return false
	}
	at, err := differ(narrowed(t, u))
	return at < 0 && err == nil
}

// narrowed returns t and u, of one shape, each reduced to one position of every dim that both
// repeat.
func narrowed(t, u *Tensor) (*Tensor, *Tensor) {
	a, b := t.view, u.view
	shape := a.Shape.Clone()
	for dim, size := range shape {
		if size > 1 && a.Strides[dim] == 0 && b.Strides[dim] == 0 {
			shape[dim] = 1
		}
	}
	a.Shape, b.Shape = shape, shape
	return &Tensor{t.dtype, a, t.mem}, &Tensor{u.dtype, b, u.mem}
}

// Diff describes the first difference between t and u, by the rules of [Tensor.Equal], or returns
// "" if they are equal. An error means that elements cannot be read, or that u is nil ([ErrKind]).
func (t *Tensor) Diff(u *Tensor) (string, error) {
	return t.diff(u, &search{bits: !t.dtype.IsFloat() && !t.dtype.IsComplex()})
}

// DiffBits implements plan.BitDiffer.
func (v *ops) DiffBits(u *Tensor) (string, error) { return (*Tensor)(v).diff(u, &search{bits: true}) }

// diff describes the first difference that s finds.
func (t *Tensor) diff(u *Tensor, s *search) (string, error) {
	if u == nil {
		return "", errNil
	}
	if t.dtype != u.dtype || !t.view.Shape.Equal(u.view.Shape) {
		return fmt.Sprintf("%v %v, other %v %v", t.dtype, t.view.Shape, u.dtype, u.view.Shape), nil
	}
	a, b := narrowed(t, u)
	at, err := firstFound(s, a, b)
	if at < 0 || err != nil {
		return "", err
	}
	d, err := t.elementDiff(u, a.view.Shape.Position(at))
	switch {
	case err != nil:
		return "", err
	case d.A == d.B && s.bits:
		d.B += " with other bits"
	case d.A == d.B && d.A == "NaN":
		return fmt.Sprintf("element %v is NaN, which differs from itself", d.Position), nil
	}
	return fmt.Sprintf("element %v is %s, other %s", d.Position, d.A, d.B), nil
}

// elementDiff returns the texts of the elements at a position.
func (t *Tensor) elementDiff(u *Tensor, pos []int) (d ElementDiff, err error) {
	d.Position = pos
	if d.A, err = t.at(pos).itemText(); err == nil {
		d.B, err = u.at(pos).itemText()
	}
	return d, err
}

// at returns the element at a position, as a tensor.
func (t *Tensor) at(pos []int) *Tensor {
	for _, i := range pos {
		t = t.row(i)
	}
	return t
}

// differ returns the row-major number of the first element in which t and u differ, or -1. They
// have the same dtype and shape.
func differ(t, u *Tensor) (int, error) {
	return firstFound(&search{bits: !t.dtype.IsFloat() && !t.dtype.IsComplex()}, t, u)
}

// firstFound returns the row-major number of the first element that a search finds, or -1.
func firstFound(s *search, t, u *Tensor) (int, error) {
	s.most = 1
	if err := s.run(t, u); err != nil || s.count == 0 {
		return -1, err
	}
	return s.first[0], nil
}

// operand returns the i-th operand of b as a tensor [rows width].
func (b *Block) operand(i int) *Tensor {
	strides := [...][]int{PerElement: {b.Width, 1}, PerRow: {1, 0}, PerBlock: {0, 0}}[b.Src[i].Per]
	view := shape.View{Shape: shape.Shape{b.Rows, b.Width}, Strides: strides}
	return &Tensor{dtype: b.Src[i].DType, view: view, mem: memory{bytes: b.Src[i].Bytes}}
}

// readBoth is Read of two tensors.
func readBoth[T Elem](t, u *Tensor, fn func(a, b []T)) error {
	var err error
	for _, x := range []**Tensor{&t, &u} {
		if *x, err = (*x).inOrder(); err != nil {
			return err
		}
	}
	return useBoth(t, u, func(p, q []byte) error {
		a, err := typed[T](t, p)
		if err != nil {
			return err
		}
		b, err := typed[T](u, q)
		if err == nil {
			fn(a, b)
		}
		return err
	})
}

// inOrder returns t, or a copy if t is not contiguous and aligned.
func (t *Tensor) inOrder() (*Tensor, error) {
	if !t.view.IsContiguous() {
		return t.Clone()
	}
	b, err := t.mem.borrow()
	if err != nil {
		return nil, err
	}
	aligned := cast.Aligned(t.own(b), t.dtype.Size())
	t.mem.giveBack()
	if aligned {
		return t, nil
	}
	return t.Clone()
}

// firstByte returns the row-major number of the first element of which bytes differ, or -1.
func firstByte(t, u *Tensor) (at int, err error) {
	a, err := t.Contiguous()
	if err != nil {
		return 0, err
	}
	b, err := u.Contiguous()
	if err != nil {
		return 0, err
	}
	err = useBoth(a, b, func(p, q []byte) error {
		at = mismatch(a.own(p), b.own(q))
		return nil
	})
	if at > 0 {
		at /= t.dtype.Size()
	}
	return at, err
}

// mismatch returns the index of the first byte in which p and q, equally long, differ, or -1.
func mismatch(p, q []byte) int {
	const piece = 4096
	for at := 0; at < len(p); at += piece {
		a, b := p[at:min(at+piece, len(p))], q[at:min(at+piece, len(q))]
		if bytes.Equal(a, b) {
			continue
		}
		for i := range a {
			if a[i] != b[i] {
				return at + i
			}
		}
	}
	return -1
}
