package arith

import (
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A sieve is a mask as a reduction needs it: which elements count.
type sieve struct {
	bits  *tensor.Tensor // [size], contiguous, or nil: all count
	outer int            // bits for each position of outer: 0 if all have the same
	each  bool           // the elements of a row [inner] differ
	row   int            // then bits for each row: 0 if all have the same
	rep   int            // elements, or else rows, for which one bit stands
}

// sieve returns the sieve of the mask.
func (a arranged) sieve() (sieve, error) {
	if a.mask == nil {
		return sieve{}, nil
	}
	s, rank := a.mask.Shape(), len(a.mask.Shape())
	sv := sieve{each: a.masked(a.to, rank), rep: 1}
	rows := a.masked(a.from, a.to)
	first, last, repeated := a.from, a.to, a.from // the dims that bits of one position of outer have
	if sv.each {
		last, repeated = rank, a.to
		if !rows {
			first = a.to
		}
	}
	bits := s[first:last].Size()
	for last > repeated && !a.masked(last-1, last) {
		last--
		sv.rep *= s[last]
	}
	if sv.each && rows {
		sv.row = s[a.to:].Size() / sv.rep
	}
	outer := a.masked(0, a.from)
	if outer {
		sv.outer = bits / sv.rep
	}
	expr := make([]ix.Index, rank)
	for dim := range expr {
		if (dim >= a.from || !outer) && (dim < first || dim >= last) {
			expr[dim] = ix.At(0)
		}
	}
	var err error
	sv.bits, err = flat(a.mask.Index(expr...))
	return sv, err
}

// masked reports whether elements that differ only in some dims may differ in the mask.
func (a arranged) masked(from, to int) bool {
	v := a.mask.View()
	for dim := from; dim < to; dim++ {
		if v.Shape[dim] > 1 && v.Strides[dim] != 0 {
			return true
		}
	}
	return false
}

// flat returns the elements of a tensor, or a copy of them, as they lie: [size], contiguous.
func flat(t *tensor.Tensor, err error) (*tensor.Tensor, error) {
	if err == nil {
		t, err = t.Contiguous()
	}
	if err != nil || len(t.Shape()) == 1 {
		return t, err
	}
	return t.Reshape(t.Size())
}
