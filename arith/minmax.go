package arith

import "github.com/go-tensordict/tensordict/tensor"

// Min returns the least numbers of x as [Sum] returns sums, with x's dtypes. NaN wins over every
// number, and -0 is less than 0. Of no element it is NaN, or for integers [ErrEmpty]. Complex
// numbers and bool are tensor.ErrDType. (Python: amin.)
func Min[T Operand[T]](x T, over Over) (T, error) { return reduce(minReduction, x, over) }

// MinInto is to [Min] what [SumInto] is to Sum.
func MinInto[T Operand[T]](dst, x T, over Over) error { return reduceInto(minReduction, dst, x, over) }

// Max returns the greatest numbers of x as [Min] returns the least. (Python: amax.)
func Max[T Operand[T]](x T, over Over) (T, error) { return reduce(maxReduction, x, over) }

// MaxInto is to [Max] what [SumInto] is to Sum.
func MaxInto[T Operand[T]](dst, x T, over Over) error { return reduceInto(maxReduction, dst, x, over) }

// ArgMin returns where the least numbers of x are, as int64: the position of the first of them, or
// of the first NaN, among all elements of the reduced dims in row-major order, whether they count
// or not, or in the rows of its group, the first of which is at 0. 0 and -0 are equal. Of no
// element it is [ErrEmpty]. Complex numbers and bool are tensor.ErrDType. (Python: argmin.)
func ArgMin[T Operand[T]](x T, over Over) (T, error) { return reduce(argMinReduction, x, over) }

// ArgMinInto is to [ArgMin] what [SumInto] is to Sum.
func ArgMinInto[T Operand[T]](dst, x T, over Over) error {
	return reduceInto(argMinReduction, dst, x, over)
}

// ArgMax returns where the greatest numbers of x are as [ArgMin] does for the least. (Python:
// argmax.)
func ArgMax[T Operand[T]](x T, over Over) (T, error) { return reduce(argMaxReduction, x, over) }

// ArgMaxInto is to [ArgMax] what [SumInto] is to Sum.
func ArgMaxInto[T Operand[T]](dst, x T, over Over) error {
	return reduceInto(argMaxReduction, dst, x, over)
}

var (
	minReduction    = extremeReduction("min", false)
	maxReduction    = extremeReduction("max", true)
	argMinReduction = positionReduction("arg min", false)
	argMaxReduction = positionReduction("arg max", true)
)

func extremeReduction(name string, max bool) *reduction {
	return &reduction{name, orderedDType, "real numbers", func(dst *tensor.Tensor, in *reduced) error {
		return runExtreme(dst, in, max)
	}, true}
}

func positionReduction(name string, max bool) *reduction {
	makes := func(d tensor.DType) tensor.DType {
		if orderedDType(d) == 0 {
			return 0
		}
		return tensor.Int64
	}
	return &reduction{name, makes, "real numbers", func(dst *tensor.Tensor, in *reduced) error {
		return runPosition(dst, in, max)
	}, false}
}

// orderedDType returns the dtype of the least of numbers.
func orderedDType(d tensor.DType) tensor.DType {
	if d.IsInteger() || d.IsFloat() {
		return d
	}
	return 0
}

func extremes[T realNumber](max bool) recipe[T, T] {
	return recipe[T, T]{fold: func([]T) fold[T, T] { return &extreme[T]{max: max} }, joins: true}
}

func positions[T realNumber](max bool) recipe[T, int64] {
	return recipe[T, int64]{
		fold: func([]int64) fold[T, int64] { return &position[T]{max: max} }, joins: true, positional: true,
	}
}

func runExtreme(dst *tensor.Tensor, in *reduced, max bool) error {
	switch in.x.DType() {
	case tensor.Uint8:
		return reduceAs(dst, in, extremes[uint8](max))
	case tensor.Uint16:
		return reduceAs(dst, in, extremes[uint16](max))
	case tensor.Uint32:
		return reduceAs(dst, in, extremes[uint32](max))
	case tensor.Uint64:
		return reduceAs(dst, in, extremes[uint64](max))
	case tensor.Int8:
		return reduceAs(dst, in, extremes[int8](max))
	case tensor.Int16:
		return reduceAs(dst, in, extremes[int16](max))
	case tensor.Int32:
		return reduceAs(dst, in, extremes[int32](max))
	case tensor.Int64:
		return reduceAs(dst, in, extremes[int64](max))
	case tensor.Float32:
		return reduceAs(dst, in, extremes[float32](max))
	case tensor.Float64:
		return reduceAs(dst, in, extremes[float64](max))
	case tensor.Float16, tensor.BFloat16:
		return reduceHalf(dst, in, extremes[float32](max))
	}
	return notReduced(in)
}

func runPosition(dst *tensor.Tensor, in *reduced, max bool) error {
	switch in.x.DType() {
	case tensor.Uint8:
		return reduceAs(dst, in, positions[uint8](max))
	case tensor.Uint16:
		return reduceAs(dst, in, positions[uint16](max))
	case tensor.Uint32:
		return reduceAs(dst, in, positions[uint32](max))
	case tensor.Uint64:
		return reduceAs(dst, in, positions[uint64](max))
	case tensor.Int8:
		return reduceAs(dst, in, positions[int8](max))
	case tensor.Int16:
		return reduceAs(dst, in, positions[int16](max))
	case tensor.Int32:
		return reduceAs(dst, in, positions[int32](max))
	case tensor.Int64:
		return reduceAs(dst, in, positions[int64](max))
	case tensor.Float32:
		return reduceAs(dst, in, positions[float32](max))
	case tensor.Float64:
		return reduceAs(dst, in, positions[float64](max))
	case tensor.Float16, tensor.BFloat16:
		return reduceHalf(dst, in, positions[float32](max))
	}
	return notReduced(in)
}
