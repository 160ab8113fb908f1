package arith

import "github.com/go-tensordict/tensordict/tensor"

// Min returns the least elements of x, with x's dtypes; shapes are as for [Sum]. The result is NaN
// if any element is NaN. Here -0 is less than 0, although they are equal in [Sort] and [ArgMin]:
// ArgMin may return the position of a 0 where Min returns -0. For no elements the result is NaN,
// but Min of integers returns [ErrEmpty]. Min returns tensor.ErrDType for complex numbers and bool.
// (Python: amin.)
func Min[T Reducible[T]](x T, over Over) (T, error) { return reduce(minReduction, x, over) }

// Max returns the greatest elements of x, by the rules of [Min]. (Python: amax.)
func Max[T Reducible[T]](x T, over Over) (T, error) { return reduce(maxReduction, x, over) }

// ArgMin returns the position of the least element, as int64; shapes are as for [Sum]. If any
// element is NaN, it returns the position of the first NaN. Of several least elements it returns
// the first; 0 and -0 are equal.
//
// Positions count from 0. With Dims, Features or Whole, a position is the row-major number of the
// element among all elements of the reduced dims. With BySplits it is the number of the element's
// row within its group. Elements that are masked out are numbered too. ArgMin returns [ErrEmpty]
// for no elements, and tensor.ErrDType for complex numbers and bool. (Python: argmin.)
func ArgMin[T Reducible[T]](x T, over Over) (T, error) { return reduce(argMinReduction, x, over) }

// ArgMax returns the position of the greatest element, by the rules of [ArgMin]. (Python: argmax.)
func ArgMax[T Reducible[T]](x T, over Over) (T, error) { return reduce(argMaxReduction, x, over) }

var (
	minReduction    = orderReduction("min", orderedDType, least)
	maxReduction    = orderReduction("max", orderedDType, greatest)
	argMinReduction = orderReduction("arg min", positionDType, whereLeast)
	argMaxReduction = orderReduction("arg max", positionDType, whereGreatest)
)

func orderReduction(name string, makes func(tensor.DType) tensor.DType, w way) *reduction {
	return &reduction{name: name, makes: makes, wants: "real numbers", of: w.with(recipe[float64, float64]{})}
}

// orderedDType returns the dtype of Min and Max, or 0 if elements of dtype d have none.
func orderedDType(d tensor.DType) tensor.DType {
	if d.IsInteger() || d.IsFloat() {
		return d
	}
	return 0
}

// positionDType returns the dtype of ArgMin and ArgMax, or 0 if elements of dtype d have none.
func positionDType(d tensor.DType) tensor.DType {
	if orderedDType(d) == 0 {
		return 0
	}
	return tensor.Int64
}
