package arith

import (
	"cmp"
	"errors"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// element is the set of types that reductions read and write.
type element interface {
	integers | floats
}

// A reduced is a tensor to reduce.
type reduced struct {
	x, mask *tensor.Tensor // mask is over leading dims of x, or nil
	dims    []bool         // whether each dim is reduced
	splits  []int64        // of dim 0 into groups, or nil
	checked bool           // a mean that is out of range is errRange
	few     [4]int         // memory for the order of up to 4 dims
}

// reduceAs sets dst to the result of recipe r for a tensor whose elements are read as T.
func reduceAs[T, D element](dst *tensor.Tensor, in *reduced, r recipe[T, D]) error {
	if dst.Size() == 0 {
		return nil
	}
	if dst.DType() == tensor.Bool {
		raw, err := dst.Reinterpret(tensor.Uint8)
		if err != nil {
			return err
		}
		return reduceAs(raw, in, r)
	}
	if d := tensor.DTypeOf[D](); dst.DType() != d {
		return viaWider(dst, d, func(wide *tensor.Tensor) error { return reduceAs(wide, in, r) })
	}
	a, order, err := in.arranged()
	if err != nil {
		return err
	}
	if in.sorted(order) { // the dims are in the order of dst
		if err := reduceContiguous(dst, a, r); !errors.Is(err, errUnaligned) {
			return err
		}
	}
	if dst, err = in.matchDims(dst, order); err != nil {
		return err
	}
	return reduceArranged(dst, a, r)
}

// viaWider has fn compute the elements in new memory of dtype d, usually a wider one, and casts
// them to dst.
func viaWider(dst *tensor.Tensor, d tensor.DType, fn func(wide *tensor.Tensor) error) error {
	wide, err := tensor.New(d, dst.Shape()...)
	if err == nil {
		err = fn(wide)
	}
	if err != nil {
		return err
	}
	return wide.CastInto(dst)
}

// writeAll calls fn with the elements of dst, to be set.
func writeAll[D element](dst *tensor.Tensor, fn func(to []D) error) error {
	var failed error
	err := tensor.Write(dst, func(to []D) { failed = fn(to) })
	return cmp.Or(err, failed)
}

// arranged returns the arranged tensor, and the order of its dims.
func (in *reduced) arranged() (a arranged, order []int, err error) {
	order, from, to := in.order()
	a = arranged{in.x, in.mask, from, to, in.splits}
	if a.mask != nil {
		if a.mask, err = extended(a.mask, len(in.dims)); err == nil {
			a.mask, err = a.mask.Expand(a.x.Shape()...)
		}
	}
	if err == nil && !slices.IsSorted(order) {
		if a.x, err = a.x.Permute(order...); err == nil && a.mask != nil {
			a.mask, err = a.mask.Permute(order...)
		}
	}
	return a, order, err
}

// order returns an order of the dims in which the reduced dims are adjacent, at from to to-1, and
// in their own order. It prefers the order of the dims in memory, if that has no gaps, then the
// order that they have. Otherwise the reduced dims come last.
func (in *reduced) order() (order []int, from, to int) {
	v := in.x.View()
	order = in.few[:0]
	for dim := range v.Shape {
		order = append(order, dim)
	}
	if !v.IsContiguous() {
		lying := slices.Clone(order)
		slices.SortStableFunc(lying, func(a, b int) int { return cmp.Compare(v.Strides[b], v.Strides[a]) })
		if from, to, ok := in.neighbours(lying); ok && gapless(v, lying) {
			return lying, from, to
		}
	}
	from, to, ok := in.neighbours(order)
	if !ok {
		slices.SortStableFunc(order, func(a, b int) int { return order01(in.dims[a]) - order01(in.dims[b]) })
		from, to, _ = in.neighbours(order)
	}
	return order, from, to
}

// gapless reports whether the elements of a view are contiguous in an order of its dims.
func gapless(v shapeops.View, order []int) bool {
	step := 1
	for _, dim := range slices.Backward(order) {
		if v.Shape[dim] != 1 && v.Strides[dim] != step {
			return false
		}
		step *= v.Shape[dim]
	}
	return true
}

// neighbours returns the range of an order in which the dims are reduced. It returns false unless
// these are adjacent and in their own order. Dims of size 1 may be anywhere.
func (in *reduced) neighbours(order []int) (from, to int, ok bool) {
	from, to = len(order), len(order)
	last, apart := -1, false
	for i, dim := range order {
		switch {
		case !in.large(dim):
		case !in.dims[dim]:
			apart = last >= 0
		case last < 0:
			from, to, last = i, i+1, dim
		case apart || dim < last:
			return 0, 0, false
		default:
			to, last = i+1, dim
		}
	}
	return from, to, true
}

// order01 returns 0 for false and 1 for true.
func order01(b bool) int { return int(bit(b)) }

// large reports whether a dim has several positions, or is divided into groups.
func (in *reduced) large(dim int) bool {
	return in.x.Shape()[dim] != 1 || in.splits != nil && dim == 0
}

// sorted reports whether an order keeps the dims of the result in their own order.
func (in *reduced) sorted(order []int) bool {
	last := -1
	for _, dim := range order {
		if !in.large(dim) || in.dims[dim] && in.splits == nil {
			continue
		}
		if dim < last {
			return false
		}
		last = dim
	}
	return true
}

// matchDims returns dst with a dim for each dim of the tensor, in the given order. A reduced dim
// has size 1, or the number of groups.
func (in *reduced) matchDims(dst *tensor.Tensor, order []int) (*tensor.Tensor, error) {
	shape := in.x.Shape().Clone()
	for dim, gone := range in.dims {
		switch {
		case gone && in.splits != nil:
			shape[dim] = len(in.splits) - 1
		case gone:
			shape[dim] = 1
		}
	}
	dst, err := dst.Reshape(shape...)
	if err != nil {
		return nil, err
	}
	return dst.Permute(order...)
}
