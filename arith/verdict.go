package arith

import (
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// All reports of bools, as [Sum] makes sums, whether all that count are true: bool, true of no
// element. Other dtypes are tensor.ErrDType. (Python: all.)
func All[T Operand[T]](x T, over Over) (T, error) { return reduce(allOf, x, over) }

// AllInto is to [All] what [SumInto] is to Sum.
func AllInto[T Operand[T]](dst, x T, over Over) error { return reduceInto(allOf, dst, x, over) }

// Any reports of bools, as [Sum] makes sums, whether one that counts is true: bool, false of no
// element. Other dtypes are tensor.ErrDType. (Python: any.)
func Any[T Operand[T]](x T, over Over) (T, error) { return reduce(anyOf, x, over) }

// AnyInto is to [Any] what [SumInto] is to Sum.
func AnyInto[T Operand[T]](dst, x T, over Over) error { return reduceInto(anyOf, dst, x, over) }

// Count returns how many elements there are, or a mask says count, of any dtype, as [Sum] returns
// sums: int64. It does not look at the elements: how many of a mask are true is its [Sum].
// (Python's count_nonzero is Sum of NotEqual(x, 0).)
func Count[T Operand[T]](x T, over Over) (T, error) { return reduce(countOf, x, over) }

// CountInto is to [Count] what [SumInto] is to Sum.
func CountInto[T Operand[T]](dst, x T, over Over) error { return reduceInto(countOf, dst, x, over) }

var (
	allOf   = verdictReduction("all", 0)
	anyOf   = verdictReduction("any", 1)
	countOf = &reduction{"count", func(tensor.DType) tensor.DType { return tensor.Int64 }, "", runCount, false}
)

// verdictReduction returns the reduction of bools by the value that decides.
func verdictReduction(name string, decides byte) *reduction {
	makes := func(d tensor.DType) tensor.DType {
		if d == tensor.Bool {
			return d
		}
		return 0
	}
	r := recipe[uint8, uint8]{fold: func([]uint8) fold[uint8, uint8] { return &verdict{decides: decides} }, joins: true}
	return &reduction{name, makes, "bool, as NotEqual(x, 0) makes", func(dst *tensor.Tensor, in *reduced) error { return reduceAs(dst, in, r) }, false}
}

// runCount counts the bits of the mask, over those dims of it that are reduced, and multiplies with
// the sizes of the others.
func runCount(dst *tensor.Tensor, in *reduced) error {
	mask := in.mask
	if mask == nil {
		mask = tensor.Scalar(true)
		if in.splits != nil {
			one, err := mask.Expand(in.x.Shape()[0])
			if err != nil {
				return err
			}
			mask = one
		}
	} else if in.splits != nil && len(mask.Shape()) == 0 {
		one, err := mask.Expand(in.x.Shape()[0])
		if err != nil {
			return err
		}
		mask = one
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
	err = runIntegerSum(counts, &reduced{x: mask, dims: in.dims[:rank], splits: in.splits})
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
	if counts, err = counts.Reshape(slices.Concat(sizes, slices.Repeat(shapeops.Shape{1}, len(shape)-rank))...); err != nil {
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
