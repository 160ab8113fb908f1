package arith

import "github.com/go-tensordict/tensordict/tensor"

// Sum returns the sums of x over dims, groups of rows, or all that there is:
//
//	x [A N B], Dims(1) -> [A B], with Keep -> [A 1 B]
//	x [N F...], BySplits(splits) -> [G F...]
//
// In a dictionary each leaf is reduced by itself, and the batch shapes and the names of dims
// follow; Data stays if it is the same for all rows, or batch shapes stay. Of no element the sum is
// 0.
//
// The sums of integers and bool are int64, those of uint64 are uint64, and they are exact. Other
// dtypes stay: float16 and bfloat16 are added in float32, and rounded once.
//
// # The order of sums
//
// Floating-point and complex numbers are added in one order, whatever the layout, the memory and
// the number of cores: the elements that count, in row-major order of the reduced dims, are taken
// in blocks of 64. In a block they are added one after the other, starting from 0. The sums of
// blocks are added pairwise, neighbours first, then the sums of pairs, and so on, as far as there
// are two of the same number of blocks; what is left at the end is added from the smallest on. The
// last block may be shorter. So a sum with a mask is, bit for bit, that of only the elements that
// count.
//
// Sum returns the errors of the Over that it is given, tensor.ErrDType for a sum of integers that
// the dtype does not hold, and tensor.ErrKind if x is nil. With an error there is no result. The
// result shares no memory with x. (Python: sum.)
func Sum[T Reducible[T]](x T, over Over) (T, error) { return reduce(sumOf, x, over) }

// SumInto is [Sum] into a value that the caller owns, which must have the dtypes and shapes of the
// result. Its errors are also those of tensor.Transfer; on an error nothing has changed.
func SumInto[T Reducible[T]](dst, x T, over Over) error { return reduceInto(sumOf, dst, x, over) }

// Prod returns the products of x as [Sum] returns sums, with the same dtypes: of no element 1. The
// factors are multiplied in row-major order, one after the other. A product of integers that the
// dtype does not hold is tensor.ErrDType. (Python: prod.)
func Prod[T Reducible[T]](x T, over Over) (T, error) { return reduce(prodOf, x, over) }

// ProdInto is to [Prod] what [SumInto] is to Sum.
func ProdInto[T Reducible[T]](dst, x T, over Over) error { return reduceInto(prodOf, dst, x, over) }

// Mean returns the means of x as [Sum] returns sums: the sum in the order stated there, divided by
// how many elements count; of no element NaN. Those of integers and bool are float64, to which they
// are converted first; other dtypes stay. (Python: mean.)
func Mean[T Reducible[T]](x T, over Over) (T, error) { return reduce(meanOf, x, over) }

// MeanInto is to [Mean] what [SumInto] is to Sum.
func MeanInto[T Reducible[T]](dst, x T, over Over) error { return reduceInto(meanOf, dst, x, over) }

// VarOptions say what [Var] and [Std] divide by. The zero value is the default.
type VarOptions struct {
	// Correction is what the number of elements is reduced by. In Python it is 1 by default; 0
	// makes the variance of just these elements.
	Correction int
}

// Var returns the variances of x as [Sum] returns sums: the sum, in the order stated there, of the
// squares of the distances from the [Mean], divided by how many elements count less the correction.
// It is NaN if no more elements count than the correction. Means, squares and sums are float64, and
// rounded once: the result of integers is float64, and other dtypes stay. Complex numbers and bool
// are tensor.ErrDType. (Python: var.)
func Var[T Reducible[T]](x T, over Over, opt VarOptions) (T, error) {
	return reduce(spreadOf("var", opt, false), x, over)
}

// VarInto is to [Var] what [SumInto] is to Sum.
func VarInto[T Reducible[T]](dst, x T, over Over, opt VarOptions) error {
	return reduceInto(spreadOf("var", opt, false), dst, x, over)
}

// Std returns the square roots of what [Var] returns, rounded once. (Python: std.)
func Std[T Reducible[T]](x T, over Over, opt VarOptions) (T, error) {
	return reduce(spreadOf("std", opt, true), x, over)
}

// StdInto is to [Std] what [SumInto] is to Sum.
func StdInto[T Reducible[T]](dst, x T, over Over, opt VarOptions) error {
	return reduceInto(spreadOf("std", opt, true), dst, x, over)
}

// Norm returns the Euclidean norms of x as [Sum] returns sums: the square root of the sum, in the
// order stated there, of the squares; of no element 0. Squares and sums are float64, and the root
// is rounded once: the result of integers is float64, and other dtypes stay. Complex numbers and
// bool are tensor.ErrDType. (Python: norm, torch.linalg.vector_norm.)
func Norm[T Reducible[T]](x T, over Over) (T, error) { return reduce(normOf, x, over) }

// NormInto is to [Norm] what [SumInto] is to Sum.
func NormInto[T Reducible[T]](dst, x T, over Over) error { return reduceInto(normOf, dst, x, over) }

var (
	sumOf  = &reduction{"sum", sumDType, "numbers or bool", sums.run(recipe[float64, float64]{}), true}
	prodOf = &reduction{"prod", prodDType, "numbers", products.run(recipe[float64, float64]{}), true}
	normOf = &reduction{"norm", realDType, "real numbers", inSquares.run(summing(roots)), true}
	meanOf = &reduction{"mean", meanDType, "numbers or bool", means.run(summing(mean[float64])), true}
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

// realDType returns the dtype of what is made of real numbers as float64.
func realDType(d tensor.DType) tensor.DType {
	if d == tensor.Bool || d.IsComplex() {
		return 0
	}
	return meanDType(d)
}
