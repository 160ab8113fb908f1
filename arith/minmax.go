package arith

import "github.com/go-tensordict/tensordict/tensor"

// Min returns the least numbers of x as [Sum] returns sums, with x's dtypes. NaN wins over every
// number, and -0 is less than 0. Of no element it is NaN, or for integers [ErrEmpty]. Complex
// numbers and bool are tensor.ErrDType. (Python: amin.)
func Min[T Reducible[T]](x T, over Over) (T, error) { return reduce(minReduction, x, over) }

// MinInto is to [Min] what [SumInto] is to Sum.
func MinInto[T Reducible[T]](dst, x T, over Over) error {
	return reduceInto(minReduction, dst, x, over)
}

// Max returns the greatest numbers of x as [Min] returns the least. (Python: amax.)
func Max[T Reducible[T]](x T, over Over) (T, error) { return reduce(maxReduction, x, over) }

// MaxInto is to [Max] what [SumInto] is to Sum.
func MaxInto[T Reducible[T]](dst, x T, over Over) error {
	return reduceInto(maxReduction, dst, x, over)
}

// ArgMin returns where the least numbers of x are, as int64: the position of the first of them, or
// of the first NaN, among all elements of the reduced dims in row-major order, whether they count
// or not, or in the rows of its group, the first of which is at 0. 0 and -0 are equal. Of no
// element it is [ErrEmpty]. Complex numbers and bool are tensor.ErrDType. (Python: argmin.)
func ArgMin[T Reducible[T]](x T, over Over) (T, error) { return reduce(argMinReduction, x, over) }

// ArgMinInto is to [ArgMin] what [SumInto] is to Sum.
func ArgMinInto[T Reducible[T]](dst, x T, over Over) error {
	return reduceInto(argMinReduction, dst, x, over)
}

// ArgMax returns where the greatest numbers of x are as [ArgMin] does for the least. (Python:
// argmax.)
func ArgMax[T Reducible[T]](x T, over Over) (T, error) { return reduce(argMaxReduction, x, over) }

// ArgMaxInto is to [ArgMax] what [SumInto] is to Sum.
func ArgMaxInto[T Reducible[T]](dst, x T, over Over) error {
	return reduceInto(argMaxReduction, dst, x, over)
}

var (
	minReduction    = orderReduction("min", orderedDType, least)
	maxReduction    = orderReduction("max", orderedDType, greatest)
	argMinReduction = orderReduction("arg min", positionDType, whereLeast)
	argMaxReduction = orderReduction("arg max", positionDType, whereGreatest)
)

func orderReduction(name string, makes func(tensor.DType) tensor.DType, w way) *reduction {
	return &reduction{name, makes, "real numbers", w.run(recipe[float64, float64]{}), w == least || w == greatest}
}

// orderedDType returns the dtype of the least of numbers.
func orderedDType(d tensor.DType) tensor.DType {
	if d.IsInteger() || d.IsFloat() {
		return d
	}
	return 0
}

// positionDType returns the dtype of where the least of numbers is.
func positionDType(d tensor.DType) tensor.DType {
	if orderedDType(d) == 0 {
		return 0
	}
	return tensor.Int64
}
