package arith

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A reduction is an operation that combines many elements into one.
type reduction struct {
	name string
	// makes returns the dtype of the result for elements of dtype d, or 0 if the reduction does not
	// take d.
	makes func(d tensor.DType) tensor.DType
	wants string
	run   func(dst *tensor.Tensor, in *reduced) error
	sure  bool // cannot fail on floating-point numbers
}

// reduce applies a reduction to x.
func reduce[T Reducible[T]](r *reduction, x T, o Over) (T, error) {
	s, others, err := scopeOf(x, o)
	return leafwise(r.name, r.kernel(s), err, x, others...)
}

// reduceInto sets dst to the reduction of x.
func reduceInto[T Reducible[T]](r *reduction, dst, x T, o Over) error {
	s, others, err := scopeOf(x, o)
	return leafwiseInto(r.name, r.kernel(s), err, dst, x, others...)
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

// fails reports whether a reduction may fail once it has begun: on integers, whose result may not
// fit or not exist; on bools and masks, which may be invalid; and on lent memory.
func (r *reduction) fails(xs []*tensor.Tensor) bool {
	lent := func(x *tensor.Tensor) bool { return x.Lender() != nil }
	return !r.sure || len(xs) > 1 || !xs[0].DType().IsFloat() || slices.ContainsFunc(xs, lent)
}

var maskOnly = []string{"mask"}

// dtype returns the dtype of the result for elements of dtype d.
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
		return fmt.Errorf("mask: %w: got %v, want bool, as comparisons return", tensor.ErrDType, mask.DType())
	}
	if !x.Shape().HasPrefix(mask.Shape()) {
		return fmt.Errorf("mask: %w: got %v, want the leading dims of %v", shapeops.ErrShape, mask.Shape(), x.Shape())
	}
	return nil
}
