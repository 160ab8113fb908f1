package arith

import (
	"cmp"
	"errors"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
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
	few     [4]int         // memory for the order of up to 4 dims
}

// pieceBytes is the approximate size of the pieces in which a tensor is copied, if it has gaps or
// its dims are not in the order that the reduction needs. Tests make it smaller.
var pieceBytes = 8 << 20

// An arranged is a tensor to reduce with its dims in the order [outer... n... inner...]. The dims n
// are reduced, in their order.
type arranged struct {
	x, mask  *tensor.Tensor // the mask has the shape of x, or is nil
	from, to int            // dims from:to are reduced
	splits   []int64        // of dim from into groups, or nil
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
		step, gapless := 1, true
		for _, dim := range slices.Backward(lying) {
			gapless = gapless && (v.Shape[dim] == 1 || v.Strides[dim] == step)
			step *= v.Shape[dim]
		}
		if from, to, ok := in.neighbours(lying); ok && gapless {
			return lying, from, to
		}
	}
	from, to, ok := in.neighbours(order)
	if !ok {
		slices.SortStableFunc(order, func(a, b int) int { return int(bit(in.dims[a])) - int(bit(in.dims[b])) })
		from, to, _ = in.neighbours(order)
	}
	return order, from, to
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

// results returns the shape of the results, with a dim for each dim of the tensor. A reduced dim
// has size 1, or the number of groups.
func (a arranged) results() shapeops.Shape {
	shape := a.x.Shape().Clone()
	for dim := a.from; dim < a.to; dim++ {
		shape[dim] = max(1, len(a.splits)-1)
	}
	return shape
}

// A reducing is a reduction of elements of one dtype.
type reducing struct {
	makes tensor.DType // the dtype of the results
	into  func(dst *tensor.Tensor, a arranged) error
}

// reducing returns the reduction of elements that are read as T.
func (r recipe[T, D]) reducing() reducing { return reducing{tensor.DTypeOf[D](), r.into} }

// into sets dst to the results of an arranged tensor. dst is contiguous, or has the dims of
// results.
func (r recipe[T, D]) into(dst *tensor.Tensor, a arranged) error {
	switch {
	case dst.Size() == 0:
		return nil
	case !dst.View().IsContiguous():
		return viaWider(dst, dst.DType(), func(out *tensor.Tensor) error { return r.into(out, a) })
	}
	to, err := tensor.Of[D](dst)
	if err != nil {
		return err
	}
	var first []D
	if r.first != nil {
		first = make([]D, len(to))
	}
	if a.x.Size() == 0 { // the results for no elements
		j := &job[T, D]{outer: len(to), inner: 1, recipe: r}
		return (&reducer[T, D]{job: j, fold: r.fold(first), dst: to}).units(0, len(to))
	}
	if !a.x.View().IsContiguous() {
		return r.pieces(dst, a)
	}
	j, err := jobOf(a, r)
	if err == nil && r.first != nil {
		err = j.pass(first, r.first)
	}
	if err == nil {
		err = j.pass(to, func() fold[T, D] { return r.fold(first) })
	}
	if errors.Is(err, errUnaligned) {
		return r.pieces(dst, a)
	}
	return err
}

// jobOf returns the job of a contiguous arranged tensor.
func jobOf[T, D element](a arranged, r recipe[T, D]) (*job[T, D], error) {
	bm, err := a.bitmask()
	if err != nil {
		return nil, err
	}
	x, err := flat(a.x, nil)
	if err != nil {
		return nil, err
	}
	s := a.x.Shape()
	return &job[T, D]{
		outer: s[:a.from].Size(), n: s[a.from:a.to].Size(), inner: s[a.to:].Size(),
		recipe: r, bitmask: bm, splits: a.splits, x: x,
	}, nil
}

// pieces is into of a tensor that must be copied: it copies piece by piece. It halves the dim with
// the largest stride among the dims that are not reduced, then the groups.
func (r recipe[T, D]) pieces(dst *tensor.Tensor, a arranged) error {
	if a.x.ByteSize() <= pieceBytes {
		x, err := a.x.Clone()
		if err != nil {
			return err
		}
		return r.into(dst, arranged{x, a.mask, a.from, a.to, a.splits})
	}
	dim, v := -1, a.x.View()
	for d, size := range v.Shape {
		kept := size > 1 && (d < a.from || d >= a.to)
		if kept && (dim < 0 || v.Strides[d] > v.Strides[dim]) {
			dim = d
		}
	}
	var x, to [3]int // part i has the positions x[i] to x[i+1]-1 of a.x, and to[i] to to[i+1]-1 of dst
	switch g := len(a.splits) - 1; {
	case dim >= 0:
		x = [3]int{0, v.Shape[dim] / 2, v.Shape[dim]}
		to = x
	case g > 1:
		dim, x, to = a.from, [3]int{0, int(a.splits[g/2]), int(a.splits[g])}, [3]int{0, g / 2, g}
	default:
		return r.stream(dst, a)
	}
	dst, err := dst.Reshape(a.results()...)
	if err != nil {
		return err
	}
	for i := range 2 {
		half, err := a.part(dim, x[i], x[i+1])
		if err != nil {
			return err
		}
		if dim == a.from && a.splits != nil {
			half.splits = slices.Clone(a.splits[to[i] : to[i+1]+1])
			for g := range half.splits {
				half.splits[g] -= int64(x[i])
			}
		}
		some, err := dst.Narrow(dim, to[i], to[i+1]-to[i])
		if err == nil {
			err = r.into(some, half)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// part returns the positions lo to hi-1 of a dim.
func (a arranged) part(dim, lo, hi int) (some arranged, err error) {
	some = a
	if some.x, err = a.x.Narrow(dim, lo, hi-lo); err == nil && a.mask != nil {
		some.mask, err = a.mask.Narrow(dim, lo, hi-lo)
	}
	return some, err
}

// stream reduces the whole tensor to the only element of dst.
func (r recipe[T, D]) stream(dst *tensor.Tensor, a arranged) error {
	to, err := tensor.Of[D](dst)
	if err != nil {
		return err
	}
	a.splits = nil
	all := func(to []D, f fold[T, D]) error {
		f.begin(0, 1)
		if err := streamTo(f, a, r, 0); err != nil {
			return err
		}
		return f.end(to)
	}
	first := make([]D, 1)
	if r.first != nil {
		if err := all(first, r.first()); err != nil {
			return err
		}
	}
	return all(to, r.fold(first))
}

// streamTo gives fold f the elements of a tensor. The first is at position at of the line.
func streamTo[T, D element](f fold[T, D], a arranged, r recipe[T, D], at int) error {
	if a.x.ByteSize() > pieceBytes {
		dim := slices.IndexFunc(a.x.Shape(), func(size int) bool { return size > 1 })
		n := a.x.Shape()[dim]
		for _, cut := range [][2]int{{0, n / 2}, {n / 2, n}} {
			half, err := a.part(dim, cut[0], cut[1])
			if err == nil {
				err = streamTo(f, half, r, at)
			}
			if err != nil {
				return err
			}
			at += half.x.Size()
		}
		return nil
	}
	x, err := a.x.Clone()
	if err != nil {
		return err
	}
	j, err := jobOf(arranged{x, a.mask, a.from, a.to, nil}, r)
	if err != nil {
		return err
	}
	return openAs(j.x, false, j.withBits(func(x []T, bits []byte) error {
		(&reducer[T, D]{job: j, fold: f, x: x, bits: bits}).feed(0, -at, 0, j.n, 0, 1)
		return nil
	}))
}

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
