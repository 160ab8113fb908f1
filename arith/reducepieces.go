package arith

import (
	"slices"

	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// pieceBytes is about how much is copied at once of a tensor that has gaps, or whose dims do not
// lie as the reduction needs them. Tests make it less.
var pieceBytes = 8 << 20

// reducePieces sets dst to what a recipe makes of a tensor that must be copied, piece by piece.
func reducePieces[T, D element](dst *tensor.Tensor, in *reduced, r recipe[T, D]) error {
	if in.x.ByteSize() <= pieceBytes {
		x, err := copied(in)
		if err != nil {
			return err
		}
		return reduceAs(dst, &reduced{x, in.mask, in.dims, in.splits}, r)
	}
	if dim := in.widest(); dim >= 0 {
		return reduceHalves(dst, in, r, dim, in.x.Shape()[dim]/2)
	}
	if len(in.splits) > 2 {
		return reduceGroups(dst, in, r)
	}
	return reduceStream(dst, in, r)
}

// copied returns a copy of a tensor that has a layout.
func copied(in *reduced) (*tensor.Tensor, error) {
	var perm []int
	for dim := range in.dims {
		perm = append(perm, dim)
	}
	if _, ok := arranged(in.x.Shape(), in.large(), in.dims); ok {
		return in.x.Clone()
	}
	slices.SortStableFunc(perm, func(a, b int) int { return order01(in.dims[a]) - order01(in.dims[b]) })
	x, err := in.x.Permute(perm...)
	if err == nil {
		x, err = x.Clone()
	}
	if err != nil {
		return nil, err
	}
	back := make([]int, len(perm))
	for i, dim := range perm {
		back[dim] = i
	}
	return x.Permute(back...)
}

// order01 orders false before true.
func order01(b bool) int {
	if b {
		return 1
	}
	return 0
}

// large returns the dims that are not of size 1.
func (in *reduced) large() (dims []int) {
	for dim, size := range in.x.Shape() {
		if size != 1 {
			dims = append(dims, dim)
		}
	}
	return dims
}

// widest returns the dim whose positions are farthest apart of those that are not reduced, or -1.
func (in *reduced) widest() int {
	best, strides := -1, in.x.View().Strides
	for _, dim := range in.large() {
		if !in.dims[dim] && (best < 0 || strides[dim] > strides[best]) {
			best = dim
		}
	}
	return best
}

// part returns the positions from lo to before hi of a dim.
func (in *reduced) part(dim, lo, hi int) (*reduced, error) {
	x, err := ranged(in.x, dim, lo, hi)
	if err != nil || in.mask == nil || dim >= len(in.mask.Shape()) {
		return &reduced{x, in.mask, in.dims, in.splits}, err
	}
	mask, err := ranged(in.mask, dim, lo, hi)
	return &reduced{x, mask, in.dims, in.splits}, err
}

// ranged returns the positions from lo to before hi of a dim of a tensor.
func ranged(t *tensor.Tensor, dim, lo, hi int) (*tensor.Tensor, error) {
	expr := make([]ix.Index, dim+1)
	expr[dim] = ix.Range(lo, hi)
	return t.Index(expr...)
}

// reduceHalves does the positions of a dim that is not reduced before at, and then the others.
func reduceHalves[T, D element](dst *tensor.Tensor, in *reduced, r recipe[T, D], dim, at int) error {
	to := dim
	if len(dst.Shape()) < len(in.dims) {
		for _, gone := range in.dims[:dim] {
			to -= order01(gone)
		}
	}
	for _, part := range [][2]int{{0, at}, {at, in.x.Shape()[dim]}} {
		half, err := in.part(dim, part[0], part[1])
		if err != nil {
			return err
		}
		some, err := ranged(dst, to, part[0], part[1])
		if err != nil {
			return err
		}
		if err := reduceAs(some, half, r); err != nil {
			return err
		}
	}
	return nil
}

// reduceGroups does half the groups, and then the others.
func reduceGroups[T, D element](dst *tensor.Tensor, in *reduced, r recipe[T, D]) error {
	mid := (len(in.splits) - 1) / 2
	for _, part := range [][2]int{{0, mid}, {mid, len(in.splits) - 1}} {
		splits := slices.Clone(in.splits[part[0] : part[1]+1])
		first := splits[0]
		half, err := in.part(0, int(first), int(splits[len(splits)-1]))
		if err != nil {
			return err
		}
		for i := range splits {
			splits[i] -= first
		}
		half.splits = splits
		some, err := ranged(dst, 0, part[0], part[1])
		if err != nil {
			return err
		}
		if err := reduceAs(some, half, r); err != nil {
			return err
		}
	}
	return nil
}

// reduceStream sets the only element of dst to what a recipe makes of all of a tensor.
func reduceStream[T, D element](dst *tensor.Tensor, in *reduced, r recipe[T, D]) error {
	var first []D
	if r.first != nil {
		first = make([]D, 1)
		if err := streamAll(first, in, r, r.first()); err != nil {
			return err
		}
	}
	out, err := tensor.New(dst.DType(), dst.Shape()...)
	if err != nil {
		return err
	}
	if err := writeAll(out, func(to []D) error { return streamAll(to, in, r, r.fold(first)) }); err != nil {
		return err
	}
	return dst.CopyFrom(out)
}

func streamAll[T, D element](dst []D, in *reduced, r recipe[T, D], f fold[T, D]) error {
	f.begin(0, 1)
	whole := &reduced{in.x, in.mask, in.dims, nil}
	if err := stream(whole, r, f, 0); err != nil {
		return err
	}
	return f.end(dst)
}

// stream gives a fold the elements of a tensor, the first of which is at a position of the line.
func stream[T, D element](in *reduced, r recipe[T, D], f fold[T, D], at int) error {
	if in.x.ByteSize() > pieceBytes {
		dim := in.large()[0]
		mid, n := in.x.Shape()[dim]/2, in.x.Shape()[dim]
		for _, part := range [][2]int{{0, mid}, {mid, n}} {
			half, err := in.part(dim, part[0], part[1])
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
	x, err := in.x.Clone()
	if err != nil {
		return err
	}
	l, _ := arranged(x.Shape(), in.large(), in.dims)
	j, err := jobOf(&reduced{x, in.mask, in.dims, nil}, l, r)
	if err != nil {
		return err
	}
	return j.open(func(x []T, bits []byte) error {
		w := &reducer[T, D]{job: j, fold: f, x: x, bits: bits}
		w.feed(0, -at, 0, j.n, 0)
		return nil
	})
}
