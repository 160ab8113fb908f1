package arith

import (
	"cmp"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A layout shows a tensor, whose elements lie without gaps in whatever order of its dims, as
// [outer n inner], of which n is reduced, in one group or several.
type layout struct {
	outer, n, inner int
	order           []int // the dims, but for those of size 1, as they lie
	from, to        int   // order[from:to] are reduced
}

// layoutOf returns the layout of a view, or false if there is none: as there are gaps, or reduced
// dims do not lie side by side in their order.
func layoutOf(v shapeops.View, reduced []bool) (l layout, ok bool) {
	order := make([]int, 0, len(v.Shape))
	for dim, size := range v.Shape {
		if size != 1 {
			order = append(order, dim)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v.Strides[b], v.Strides[a]) })
	step := 1
	for _, dim := range slices.Backward(order) {
		if v.Strides[dim] != step && v.Shape.Size() > 0 {
			return l, false
		}
		step *= v.Shape[dim]
	}
	return arranged(v.Shape, order, reduced)
}

// arranged returns the layout of a shape whose dims lie in an order, or false if those that are
// reduced do not lie side by side in their order.
func arranged(s shapeops.Shape, order []int, reduced []bool) (l layout, ok bool) {
	l = layout{1, 1, 1, order, len(order), len(order)}
	last := -1
	for i, dim := range order {
		switch {
		case !reduced[dim] && last < 0:
			l.outer *= s[dim]
		case !reduced[dim]:
			l.inner *= s[dim]
		case last >= 0 && (l.to != i || dim < last):
			return l, false
		default:
			if last < 0 {
				l.from = i
			}
			l.n *= s[dim]
			last, l.to = dim, i+1
		}
	}
	return l, true
}

// axes returns the dims of the tensor, in the order in which they lie, that the result has.
func (l *layout) axes(grouped bool) []int {
	out := slices.Clone(l.order[:l.from])
	if grouped {
		out = append(out, 0)
	}
	return append(out, l.order[l.to:]...)
}

// A sieve is a mask as a layout needs it: which elements count.
type sieve struct {
	bits  *tensor.Tensor // [size], contiguous, or nil: all count
	outer int            // bits for each position of outer: 0 if all have the same
	each  bool           // the elements of a row [inner] differ
	row   int            // then bits for each row: 0 if all have the same
	rep   int            // elements, or else rows, for which one bit stands
}

// sieveOf arranges a mask, over leading dims of a shape, in a layout.
func sieveOf(mask *tensor.Tensor, s shapeops.Shape, l *layout) (sieve, error) {
	if mask == nil {
		return sieve{}, nil
	}
	masked := func(dim int) bool { return dim < len(mask.Shape()) }
	sv := sieve{each: slices.ContainsFunc(l.order[l.to:], masked), rep: 1}
	var dims []int
	if slices.ContainsFunc(l.order[:l.from], masked) {
		dims = append(dims, l.order[:l.from]...)
	}
	rows, count := l.order[l.from:l.to], 1 // count of bits of what rep divides
	differ := slices.ContainsFunc(rows, masked)
	if sv.each && differ {
		dims = append(dims, rows...)
		count = l.n
	}
	if sv.each {
		rows, count = l.order[l.to:], count*l.inner
	} else {
		count = l.n
	}
	for len(rows) > 0 && !masked(rows[len(rows)-1]) {
		sv.rep *= s[rows[len(rows)-1]]
		rows = rows[:len(rows)-1]
	}
	dims = append(dims, rows...)
	if slices.ContainsFunc(l.order[:l.from], masked) {
		sv.outer = count / sv.rep
	}
	if sv.each && differ {
		sv.row = l.inner / sv.rep
	}
	var err error
	sv.bits, err = maskAlong(mask, s, dims)
	return sv, err
}

// maskAlong returns the bits of a mask along some dims of a shape, in their order: [size].
func maskAlong(mask *tensor.Tensor, s shapeops.Shape, dims []int) (*tensor.Tensor, error) {
	wide, err := widely(mask, s)
	if err != nil {
		return nil, err
	}
	perm, expr := slices.Clone(dims), make([]ix.Index, len(dims))
	for dim := range s {
		if !slices.Contains(dims, dim) {
			perm, expr = append(perm, dim), append(expr, ix.At(0))
		}
	}
	if wide, err = wide.Permute(perm...); err != nil {
		return nil, err
	}
	if wide, err = wide.Index(expr...); err != nil {
		return nil, err
	}
	if wide, err = wide.Contiguous(); err != nil {
		return nil, err
	}
	return wide.Reshape(-1)
}

// widely returns a mask over leading dims of a shape, with that shape.
func widely(mask *tensor.Tensor, s shapeops.Shape) (*tensor.Tensor, error) {
	after := slices.Repeat(shapeops.Shape{1}, len(s)-len(mask.Shape()))
	wide, err := mask.Reshape(slices.Concat(mask.Shape(), after)...)
	if err != nil {
		return nil, err
	}
	return wide.Expand(s...)
}
