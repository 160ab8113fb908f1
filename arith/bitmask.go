package arith

import (
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A bitmask is a mask in the form that a reduction needs.
type bitmask struct {
	bits  *tensor.Tensor // [size], contiguous; nil means that all elements count
	outer int            // bits for each position of outer; 0 if all positions share the bits
	each  bool           // the elements of a row [inner] have separate bits
	row   int            // if each: bits for each row; 0 if all rows share the bits
	rep   int            // elements, or unless each, rows that one bit stands for
}

// bitmask returns the bitmask of the mask.
func (a arranged) bitmask() (bitmask, error) {
	if a.mask == nil {
		return bitmask{}, nil
	}
	s, rank := a.mask.Shape(), len(a.mask.Shape())
	bm := bitmask{each: a.masked(a.to, rank), rep: 1}
	rows := a.masked(a.from, a.to)
	first, last, repeated := a.from, a.to, a.from // the dims of the bits of one outer position
	if bm.each {
		last, repeated = rank, a.to
		if !rows {
			first = a.to
		}
	}
	bits := s[first:last].Size()
	for last > repeated && !a.masked(last-1, last) {
		last--
		bm.rep *= s[last]
	}
	if bm.each && rows {
		bm.row = s[a.to:].Size() / bm.rep
	}
	outer := a.masked(0, a.from)
	if outer {
		bm.outer = bits / bm.rep
	}
	expr := make([]ix.Index, rank)
	for dim := range expr {
		if (dim >= a.from || !outer) && (dim < first || dim >= last) {
			expr[dim] = ix.At(0)
		}
	}
	var err error
	bm.bits, err = flat(a.mask.Index(expr...))
	return bm, err
}

// masked reports whether the mask depends on a dim in the range [from, to).
func (a arranged) masked(from, to int) bool {
	v := a.mask.View()
	for dim := from; dim < to; dim++ {
		if v.Shape[dim] > 1 && v.Strides[dim] != 0 {
			return true
		}
	}
	return false
}

// flat returns the elements of a tensor as [size], contiguous. They are a copy unless the tensor is
// contiguous.
func flat(t *tensor.Tensor, err error) (*tensor.Tensor, error) {
	if err == nil {
		t, err = t.Contiguous()
	}
	if err != nil || len(t.Shape()) == 1 {
		return t, err
	}
	return t.Reshape(t.Size())
}
