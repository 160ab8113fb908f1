package arith

import "github.com/go-tensordict/tensordict/tensor"

// Sum returns the sums of x over dims, over groups of rows, or over all elements:
//
//	x [A N B], Dims(1) -> [A B], with Keep -> [A 1 B]
//	x [N F...], BySplits(splits) -> [G F...]
//
// Each leaf of a dictionary is reduced by itself; batch shapes and names of dims change
// accordingly. If batch dims are reduced, a Data is kept if it is the same for all rows that are
// combined; otherwise, and for a ragged leaf, Sum returns tensor.ErrKind. The sum of no elements is
// 0.
//
// Sums of integers and bool are int64, except that sums of uint64 are uint64. They are exact. Other
// dtypes stay: float16 and bfloat16 are added in float32, and the sum is rounded once.
//
// Floating-point and complex numbers are added in one order, whatever the layout, the memory and
// the number of cores; the package documentation states it. So a sum with a mask has exactly the
// bits of the sum of [Where] with 0 in the place of the elements that do not count.
//
// Sum returns the errors of the Over, tensor.ErrDType if the dtype does not hold a sum of integers,
// and tensor.ErrKind if x is nil. On an error there is no result. The result shares no memory with
// x. (Python: sum.)
func Sum[T Reducible[T]](x T, over Over) (T, error) { return reduce(sumOf, x, over) }

// Prod returns the products of x; shapes and dtypes are as for [Sum]. The product of no elements is
// 1. Factors are multiplied in row-major order, one after the other. If the dtype does not hold a
// product of integers, Prod returns tensor.ErrDType. (Python: prod.)
func Prod[T Reducible[T]](x T, over Over) (T, error) { return reduce(prodOf, x, over) }

// Mean returns the means of x: the [Sum], in its order, divided by the number of elements that
// count. The mean of equal numbers is that number. Shapes are as for Sum. The mean of no elements
// is NaN. If the sum of real numbers overflows, the mean is computed from scaled numbers. Integers
// and bool are converted to float64 first, so their means are float64; other dtypes stay. (Python:
// mean.)
func Mean[T Reducible[T]](x T, over Over) (T, error) { return reduce(meanOf, x, over) }

// VarOptions are the options of [Var] and [Std]. The zero value is the default.
type VarOptions struct {
	// Correction is subtracted from the number of elements in the divisor. Its default is 0, which
	// gives the population variance; Python's default is 1.
	Correction int
}

// Var returns the variances of x. The squared deviations from the [Mean] are added in the order of
// [Sum]; their sum is divided by the number of elements that count minus opt.Correction. Shapes are
// as for Sum. The result is NaN unless the number of elements that count is above opt.Correction.
//
// Means, squares and sums are computed in float64, and only the result is rounded to its dtype. The
// result for integers is float64; other dtypes stay. Var returns tensor.ErrDType for complex
// numbers and bool. (Python: var.)
func Var[T Reducible[T]](x T, over Over, opt VarOptions) (T, error) {
	return reduce(spreadOf("var", opt, false), x, over)
}

// Std returns the standard deviations of x: the square roots of the variances of [Var], rounded
// once. If a variance of float64 is out of range, they are computed from scaled numbers. (Python:
// std.)
func Std[T Reducible[T]](x T, over Over, opt VarOptions) (T, error) {
	return reduce(spreadOf("std", opt, true), x, over)
}

// Norm returns the Euclidean norms of x: the square root of the sum of the squares. The squares are
// added in the order of [Sum]. Shapes are as for Sum. The norm of no elements is 0.
//
// Squares, sums and roots are computed in float64, of scaled numbers if a square of float64 is out
// of range, and only the result is rounded to its dtype. The result for integers is float64; other
// dtypes stay. Norm returns tensor.ErrDType for complex numbers and bool. (Python: norm,
// torch.linalg.vector_norm.)
func Norm[T Reducible[T]](x T, over Over) (T, error) { return reduce(normOf, x, over) }

var (
	sumOf  = &reduction{name: "sum", makes: sumDType, wants: "numbers or bool", of: sums.with(recipe[float64, float64]{})}
	prodOf = &reduction{name: "prod", makes: prodDType, wants: "numbers", of: products.with(recipe[float64, float64]{})}
	normOf = &reduction{name: "norm", makes: realDType, wants: "real numbers", of: inRange(inSquares, inSquares, summing(roots(true)), summing(roots(false)))}
	meanOf = &reduction{name: "mean", makes: meanDType, wants: "numbers or bool", of: inRange(checkedMeans, means, float64Means, float64Means)}

	float64Means = evenly(summing(mean[float64](false)))
)

// sumDType returns the dtype of sums.
func sumDType(d tensor.DType) tensor.DType {
	switch {
	case d == tensor.Uint64, d.IsFloat(), d.IsComplex():
		return d
	case d == tensor.Bool, d.IsInteger():
		return tensor.Int64
	}
	return 0
}

func prodDType(d tensor.DType) tensor.DType {
	if d == tensor.Bool {
		return 0
	}
	return sumDType(d)
}

func meanDType(d tensor.DType) tensor.DType {
	if d == tensor.Bool || d.IsInteger() {
		return tensor.Float64
	}
	return sumDType(d)
}

// realDType returns the dtype of results of real numbers that are computed in float64.
func realDType(d tensor.DType) tensor.DType {
	if d == tensor.Bool || d.IsComplex() {
		return 0
	}
	return meanDType(d)
}
