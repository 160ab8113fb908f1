package arith

import (
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Count returns the number of elements, or of elements that the mask of over counts, as int64. It
// takes any dtype; shapes are as for [Sum]. It does not read the elements of x. To count the true
// elements of a mask, call [Sum]. (Python's count_nonzero is Sum of NotEqual(x, 0).)
func Count[T Reducible[T]](x T, over Over) (T, error) { return reduce(countOf, x, over) }

var countOf = &reduction{name: "count", makes: func(tensor.DType) tensor.DType { return tensor.Int64 }, whole: runCount}

// runCount counts the mask bits over the reduced dims that the mask has, and multiplies by the
// sizes of the reduced dims that it lacks.
func runCount(dst *tensor.Tensor, in *reduced) error {
	mask := in.mask
	if mask == nil {
		mask = tensor.Scalar(true)
	}
	if in.splits != nil && len(mask.Shape()) == 0 {
		var err error
		if mask, err = mask.Expand(in.x.Shape()[0]); err != nil {
			return err
		}
	}
	rank, times := len(mask.Shape()), int64(1)
	reduced := &scope{Over: Over{kind: overDims}, splits: in.splits} // of the mask
	sizes, shape := shapeops.Shape{}, shapeops.Shape{}               // of counts; and of the result
	for dim, size := range in.x.Shape() {
		switch {
		case in.dims[dim] && in.splits != nil:
			size = len(in.splits) - 1
		case in.dims[dim] && dim >= rank:
			times *= int64(size)
		}
		if in.dims[dim] && in.splits == nil {
			size = 1
		}
		if dim < rank {
			sizes = append(sizes, size)
		}
		if dim < rank && in.dims[dim] {
			reduced.dims = append(reduced.dims, dim)
		}
		shape = append(shape, size)
	}
	counts, err := tensor.New(tensor.Int64, sizes...)
	if err == nil {
		err = sumOf.kernel(reduced).Whole(counts, []*tensor.Tensor{mask}, 0)
	}
	if err == nil {
		err = tensor.Write(counts, func(s []int64) {
			for i := range s {
				s[i] *= times
			}
		})
	}
	if err == nil {
		counts, err = extended(counts, len(shape))
	}
	if err == nil {
		counts, err = counts.Expand(shape...)
	}
	if err == nil {
		counts, err = counts.Reshape(dst.Shape()...)
	}
	if err != nil {
		return err
	}
	return dst.CopyFrom(counts)
}
