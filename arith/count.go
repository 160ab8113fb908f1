package arith

import (
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Count returns how many elements there are, or a mask says count, of any dtype, as [Sum] returns
// sums: int64. It does not look at the elements: how many of a mask are true is its [Sum].
// (Python's count_nonzero is Sum of NotEqual(x, 0).)
func Count[T Reducible[T]](x T, over Over) (T, error) { return reduce(countOf, x, over) }

// CountInto is to [Count] what [SumInto] is to Sum.
func CountInto[T Reducible[T]](dst, x T, over Over) error { return reduceInto(countOf, dst, x, over) }

var countOf = &reduction{"count", func(tensor.DType) tensor.DType { return tensor.Int64 }, "", runCount, false}

// runCount counts the bits of the mask, over those dims of it that are reduced, and multiplies with
// the sizes of the others.
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

// countBits is runCount of a mask, of whole groups if there are groups.
func countBits(dst *tensor.Tensor, in *reduced, mask *tensor.Tensor) error {
	rank, times := len(mask.Shape()), int64(1)
	sizes, shape := shapeops.Shape{}, shapeops.Shape{} // of the counts; and those of dst, with 1 for the dims after the mask
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
