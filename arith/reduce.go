package arith

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A reduction is a verb that makes one element of many.
type reduction struct {
	name string
	// makes returns the dtype of what is made of elements of one, or 0 if there is none.
	makes func(d tensor.DType) tensor.DType
	wants string
	run   func(dst *tensor.Tensor, in *reduced) error
	sure  bool // it cannot fail on floating-point numbers
}

// A reduced is a tensor to reduce.
type reduced struct {
	x, mask *tensor.Tensor // mask: over leading dims of x, or nil
	dims    []bool         // those that are reduced
	splits  []int64        // of dim 0 into groups, or nil
}

// reduce applies a reduction to x.
func reduce[T Operand[T]](r *reduction, x T, o Over) (T, error) {
	var none T
	s, others, err := scopeOf(x, o)
	if err != nil {
		return none, fmt.Errorf("%s: %w", r.name, err)
	}
	return x.Verbs().Leafwise(r.kernel(s), others...)
}

// reduceInto sets dst to what a reduction makes of x.
func reduceInto[T Operand[T]](r *reduction, dst, x T, o Over) error {
	s, others, err := scopeOf(x, o)
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return x.Verbs().LeafwiseInto(dst, r.kernel(s), others...)
}

func (r *reduction) kernel(s *scope) *tensor.Kernel {
	return &tensor.Kernel{
		Op: r.name, Others: maskOnly, Free: true, Fails: r.fails, Batch: s.batch(),
		Rowwise: s.kind == overFeatures,
		Check: func(xs []*tensor.Tensor, lead int) (tensor.DType, shapeops.Shape, error) {
			x := xs[0]
			d, err := r.dtype(x.DType())
			if err == nil {
				err = checkLeafMask(xs)
			}
			return d, s.shape(x.Shape(), s.reduced(x.Shape(), lead)), err
		},
		Whole: func(dst *tensor.Tensor, xs []*tensor.Tensor, lead int) error {
			in := &reduced{x: xs[0], dims: s.reduced(xs[0].Shape(), lead), splits: s.splits}
			if len(xs) > 1 {
				var err error
				if in.mask, err = tensor.OwnMask(xs[1]); err != nil {
					return err
				}
			}
			if dst.Lender() != nil || slices.ContainsFunc(xs, dst.SharesMemory) {
				return viaWider(dst, dst.DType(), func(out *tensor.Tensor) error { return r.run(out, in) })
			}
			return r.run(dst, in)
		},
	}
}

// fails reports whether a reduction may fail once it has begun: of integers that may be too large
// or none, of bytes that may be no bool, a mask included, and of memory that may be gone.
func (r *reduction) fails(xs []*tensor.Tensor) bool {
	lent := func(x *tensor.Tensor) bool { return x.Lender() != nil }
	return !r.sure || len(xs) > 1 || !xs[0].DType().IsFloat() || slices.ContainsFunc(xs, lent)
}

var maskOnly = []string{"mask"}

// dtype returns the dtype of what is made of elements of another.
func (r *reduction) dtype(d tensor.DType) (tensor.DType, error) {
	if made := r.makes(d); made != 0 {
		return made, nil
	}
	return 0, fmt.Errorf("%w: got %v, want %s", tensor.ErrDType, d, r.wants)
}

// checkLeafMask checks the mask of a leaf, if there is one.
func checkLeafMask(xs []*tensor.Tensor) error {
	if len(xs) < 2 {
		return nil
	}
	x, mask := xs[0], xs[1]
	if mask.DType() != tensor.Bool {
		return fmt.Errorf("mask: %w: got %v, want bool: a comparison makes one", tensor.ErrDType, mask.DType())
	}
	if !x.Shape().HasPrefix(mask.Shape()) {
		return fmt.Errorf("mask: %w: got %v, want the leading dims of %v", shapeops.ErrShape, mask.Shape(), x.Shape())
	}
	return nil
}

// An element is what is read and written.
type element interface {
	integers | floats
}

// reduceAs sets dst to what a recipe makes of a tensor whose elements are read as T.
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
	if in.x.Size() == 0 {
		return writeAll(dst, func(to []D) error { return reduceNone(to, r) })
	}
	if l, ok := layoutOf(in.x.View(), in.dims); ok {
		if err := reduceLaid(dst, in, l, r); !errors.Is(err, errUnaligned) {
			return err
		}
	}
	return reducePieces(dst, in, r)
}

// viaWider sets dst to elements that are made in other memory as a dtype, mostly a wider one.
func viaWider(dst *tensor.Tensor, d tensor.DType, fn func(wide *tensor.Tensor) error) error {
	wide, err := tensor.New(d, dst.Shape()...)
	if err != nil {
		return err
	}
	if err := fn(wide); err != nil {
		return err
	}
	if wide, err = wide.Cast(dst.DType()); err != nil {
		return err
	}
	return dst.CopyFrom(wide)
}

// writeAll calls fn with the elements of dst, to be set.
func writeAll[D element](dst *tensor.Tensor, fn func(to []D) error) error {
	var failed error
	err := tensor.Write(dst, func(to []D) { failed = fn(to) })
	if err == nil {
		err = failed
	}
	return err
}

// reduceNone sets results to what is made of nothing.
func reduceNone[T, D element](dst []D, r recipe[T, D]) error {
	j := &job[T, D]{layout: layout{outer: len(dst), inner: 1}, recipe: r}
	var first []D
	if r.first != nil {
		first = make([]D, len(dst))
	}
	w := &reducer[T, D]{job: j, fold: r.fold(first), dst: dst}
	return w.units(0, len(dst))
}

// reduceLaid sets dst to what a recipe makes of a tensor that lies without gaps.
func reduceLaid[T, D element](dst *tensor.Tensor, in *reduced, l layout, r recipe[T, D]) error {
	axes := l.axes(in.splits != nil)
	if !slices.IsSorted(axes) || !dst.View().IsContiguous() {
		return reduceTurned(dst, in, l, r, axes)
	}
	j, err := jobOf(in, l, r)
	if err != nil {
		return err
	}
	return writeAll(dst, j.run)
}

// jobOf returns the job of a layout.
func jobOf[T, D element](in *reduced, l layout, r recipe[T, D]) (*job[T, D], error) {
	sv, err := sieveOf(in.mask, in.x.Shape(), &l)
	if err != nil {
		return nil, err
	}
	x, err := in.inOrder(l.order)
	if err != nil {
		return nil, err
	}
	return &job[T, D]{layout: l, recipe: r, sieve: sv, splits: in.splits, x: x}, nil
}

// inOrder returns the elements as they lie: [size], contiguous.
func (in *reduced) inOrder(order []int) (*tensor.Tensor, error) {
	switch contiguous := in.x.View().IsContiguous(); {
	case contiguous && len(in.x.Shape()) == 1:
		return in.x, nil
	case contiguous:
		return in.x.Reshape(in.x.Size())
	}
	perm := slices.Clone(order)
	for dim, size := range in.x.Shape() {
		if size == 1 {
			perm = append(perm, dim)
		}
	}
	x, err := in.x.Permute(perm...)
	if err != nil {
		return nil, err
	}
	return x.Reshape(x.Size())
}

// reduceTurned is reduceLaid where the dims of the result do not lie as those of dst.
func reduceTurned[T, D element](dst *tensor.Tensor, in *reduced, l layout, r recipe[T, D], axes []int) error {
	sizes, back := make([]int, len(axes)), make([]int, len(axes))
	for i, dim := range axes {
		if sizes[i] = in.x.Shape()[dim]; in.dims[dim] {
			sizes[i] = len(in.splits) - 1
		}
		back[i] = i
	}
	out, err := tensor.New(dst.DType(), sizes...)
	if err != nil {
		return err
	}
	j, err := jobOf(in, l, r)
	if err != nil {
		return err
	}
	if err := writeAll(out, j.run); err != nil {
		return err
	}
	slices.SortFunc(back, func(a, b int) int { return axes[a] - axes[b] })
	if out, err = out.Permute(back...); err == nil {
		out, err = out.Reshape(dst.Shape()...)
	}
	if err != nil {
		return err
	}
	return dst.CopyFrom(out)
}
