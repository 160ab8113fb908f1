package arith

import (
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Count returns the number of elements, or of elements that the mask of over counts, as int64. It
// takes any dtype; shapes are as for [Sum]. It does not read the elements of x. To count the true
// elements of a mask, call [Sum]. (Python's count_nonzero is Sum of NotEqual(x, 0).)
func Count[T Reducible[T]](x T, over Over) (T, error) { return reduce(countOf, x, over) }

// CountInto is [Count] into dst, by the rules of [SumInto].
func CountInto[T Reducible[T]](dst, x T, over Over) error { return reduceInto(countOf, dst, x, over) }

var countOf = &reduction{"count", func(tensor.DType) tensor.DType { return tensor.Int64 }, "", runCount, false}

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
	return countBits(dst, in, mask)
}

// countBits is runCount for a mask that covers whole groups, if there are groups.
func countBits(dst *tensor.Tensor, in *reduced, mask *tensor.Tensor) error {
	rank, times := len(mask.Shape()), int64(1)
	sizes, shape := shapeops.Shape{}, shapeops.Shape{} // of counts; and of the result
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
		shape = append(shape, size)
	}
	counts, err := tensor.New(tensor.Int64, sizes...)
	if err != nil {
		return err
	}
	err = sums.run(recipe[float64, float64]{})(counts, &reduced{x: mask, dims: in.dims[:rank], splits: in.splits})
	if err == nil {
		err = tensor.Write(counts, func(s []int64) {
			for i := range s {
				s[i] *= times
			}
		})
	}
	if err != nil {
		return err
	}
	if counts, err = extended(counts, len(shape)); err != nil {
		return err
	}
	if counts, err = counts.Expand(shape...); err != nil {
		return err
	}
	if counts, err = counts.Reshape(dst.Shape()...); err != nil {
		return err
	}
	return dst.CopyFrom(counts)
}
