package arith

import (
	"errors"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

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

// reduceArranged sets dst, which has the dims of an arranged tensor, to the result of recipe r.
func reduceArranged[T, D element](dst *tensor.Tensor, a arranged, r recipe[T, D]) error {
	err := reduceContiguous(dst, a, r)
	if errors.Is(err, errUnaligned) {
		return reducePieces(dst, a, r)
	}
	return err
}

// reduceContiguous is reduceArranged of a contiguous tensor. It returns errUnaligned if the tensor
// is not contiguous.
func reduceContiguous[T, D element](dst *tensor.Tensor, a arranged, r recipe[T, D]) error {
	switch {
	case dst.Size() == 0:
		return nil
	case a.x.Size() == 0:
		return writeAll(dst, func(to []D) error { return reduceNone(to, r) })
	case !a.x.View().IsContiguous():
		return errUnaligned
	}
	j, err := jobOf(a, r)
	if err != nil {
		return err
	}
	return writeAll(dst, j.run)
}

// reduceNone sets results to the value for no elements.
func reduceNone[T, D element](dst []D, r recipe[T, D]) error {
	j := &job[T, D]{outer: len(dst), inner: 1, recipe: r}
	var first []D
	if r.first != nil {
		first = make([]D, len(dst))
	}
	w := &reducer[T, D]{job: j, fold: r.fold(first), dst: dst}
	return w.units(0, len(dst))
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

// reducePieces is reduceArranged of a tensor that must be copied: it copies piece by piece.
func reducePieces[T, D element](dst *tensor.Tensor, a arranged, r recipe[T, D]) error {
	if a.x.ByteSize() <= pieceBytes {
		x, err := a.x.Clone()
		if err != nil {
			return err
		}
		return reduceArranged(dst, arranged{x, a.mask, a.from, a.to, a.splits}, r)
	}
	if dim := a.widest(); dim >= 0 {
		n := a.x.Shape()[dim]
		return reduceHalves(dst, a, r, dim, [3]int{0, n / 2, n}, [3]int{0, n / 2, n})
	}
	if g := len(a.splits) - 1; g > 1 {
		rows := [3]int{0, int(a.splits[g/2]), int(a.splits[g])}
		return reduceHalves(dst, a, r, a.from, rows, [3]int{0, g / 2, g})
	}
	return reduceStream(dst, a, r)
}

// widest returns the dim with the largest stride among the dims that are not reduced, or -1.
func (a arranged) widest() int {
	best, v := -1, a.x.View()
	for dim, size := range v.Shape {
		kept := size > 1 && (dim < a.from || dim >= a.to)
		if kept && (best < 0 || v.Strides[dim] > v.Strides[best]) {
			best = dim
		}
	}
	return best
}

// part returns the positions lo to hi-1 of a dim.
func (a arranged) part(dim, lo, hi int) (arranged, error) {
	some := a
	var err error
	if some.x, err = ranged(a.x, dim, lo, hi); err == nil && a.mask != nil {
		some.mask, err = ranged(a.mask, dim, lo, hi)
	}
	return some, err
}

// ranged returns the positions lo to hi-1 of a dim of a tensor.
func ranged(t *tensor.Tensor, dim, lo, hi int) (*tensor.Tensor, error) {
	expr := make([]ix.Index, dim+1)
	expr[dim] = ix.Range(lo, hi)
	return t.Index(expr...)
}

// reduceHalves reduces two parts of dim, one after the other, each into its part of dst. Part i has
// the positions x[i] to x[i+1]-1 of the tensor and to[i] to to[i+1]-1 of dst. The parts are ranges
// of positions that are not reduced, or of groups.
func reduceHalves[T, D element](dst *tensor.Tensor, a arranged, r recipe[T, D], dim int, x, to [3]int) error {
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
		some, err := ranged(dst, dim, to[i], to[i+1])
		if err == nil {
			err = reduceArranged(some, half, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reduceStream reduces the whole tensor to the only element of dst.
func reduceStream[T, D element](dst *tensor.Tensor, a arranged, r recipe[T, D]) error {
	a.splits = nil
	var first []D
	if r.first != nil {
		first = make([]D, 1)
		if err := streamAll(first, a, r, r.first()); err != nil {
			return err
		}
	}
	return writeAll(dst, func(to []D) error { return streamAll(to, a, r, r.fold(first)) })
}

func streamAll[T, D element](dst []D, a arranged, r recipe[T, D], f fold[T, D]) error {
	f.begin(0, 1)
	if err := stream(a, r, f, 0); err != nil {
		return err
	}
	return f.end(dst)
}

// stream gives fold f the elements of a tensor. The first is at position at of the line.
func stream[T, D element](a arranged, r recipe[T, D], f fold[T, D], at int) error {
	if a.x.ByteSize() > pieceBytes {
		return streamHalves(a, r, f, at)
	}
	x, err := a.x.Clone()
	if err != nil {
		return err
	}
	j, err := jobOf(arranged{x, a.mask, a.from, a.to, nil}, r)
	if err != nil {
		return err
	}
	return j.open(func(x []T, bits []byte) error {
		w := &reducer[T, D]{job: j, fold: f, x: x, bits: bits}
		w.feed(0, -at, 0, j.n, 0)
		return nil
	})
}

// streamHalves is stream for one half of the tensor after the other.
func streamHalves[T, D element](a arranged, r recipe[T, D], f fold[T, D], at int) error {
	dim := slices.IndexFunc(a.x.Shape(), func(size int) bool { return size > 1 })
	n := a.x.Shape()[dim]
	for _, part := range [][2]int{{0, n / 2}, {n / 2, n}} {
		half, err := a.part(dim, part[0], part[1])
		if err == nil {
			err = stream(half, r, f, at)
		}
		if err != nil {
			return err
		}
		at += half.x.Size()
	}
	return nil
}
