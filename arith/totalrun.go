package arith

import (
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/tensor"
)

func runSum(dst *tensor.Tensor, in *reduced) error {
	switch in.x.DType() {
	case tensor.Float16, tensor.BFloat16:
		return reduceHalf(dst, in, summing[float32](nil))
	case tensor.Float32:
		return reduceAs(dst, in, summing[float32](nil))
	case tensor.Float64:
		return reduceAs(dst, in, summing[float64](nil))
	case tensor.Complex64:
		return reduceAs(dst, in, summing[complex64](nil))
	case tensor.Complex128:
		return reduceAs(dst, in, summing[complex128](nil))
	}
	return runIntegerSum(dst, in)
}

func runMean(dst *tensor.Tensor, in *reduced) error {
	switch in.x.DType() {
	case tensor.Float16, tensor.BFloat16:
		return reduceHalf(dst, in, summing(mean[float32]))
	case tensor.Float32:
		return reduceAs(dst, in, summing(mean[float32]))
	case tensor.Complex64:
		return reduceAs(dst, in, summing(mean64))
	case tensor.Complex128:
		return reduceAs(dst, in, summing(mean128))
	}
	return reduceWide(dst, in, summing(mean[float64]), false)
}

// runIntegerSum adds integers, and bools as such.
func runIntegerSum(dst *tensor.Tensor, in *reduced) error {
	switch in.x.DType() {
	case tensor.Bool, tensor.Uint8:
		return reduceAs(dst, in, recipe[uint8, int64]{fold: newIntSum[uint8, int64], joins: true})
	case tensor.Uint16:
		return reduceAs(dst, in, recipe[uint16, int64]{fold: newIntSum[uint16, int64], joins: true})
	case tensor.Uint32:
		return reduceAs(dst, in, recipe[uint32, int64]{fold: newIntSum[uint32, int64], joins: true})
	case tensor.Int8:
		return reduceAs(dst, in, recipe[int8, int64]{fold: newIntSum[int8, int64], joins: true})
	case tensor.Int16:
		return reduceAs(dst, in, recipe[int16, int64]{fold: newIntSum[int16, int64], joins: true})
	case tensor.Int32:
		return reduceAs(dst, in, recipe[int32, int64]{fold: newIntSum[int32, int64], joins: true})
	case tensor.Int64:
		return reduceAs(dst, in, recipe[int64, int64]{fold: newIntSum[int64, int64], joins: true})
	case tensor.Uint64:
		return reduceAs(dst, in, recipe[uint64, uint64]{fold: newIntSum[uint64, uint64], joins: true})
	}
	return notReduced(in)
}

func runProd(dst *tensor.Tensor, in *reduced) error {
	switch in.x.DType() {
	case tensor.Float16, tensor.BFloat16:
		return reduceHalf(dst, in, recipe[float32, float32]{fold: newProduct[float32]})
	case tensor.Float32:
		return reduceAs(dst, in, recipe[float32, float32]{fold: newProduct[float32]})
	case tensor.Float64:
		return reduceAs(dst, in, recipe[float64, float64]{fold: newProduct[float64]})
	case tensor.Complex64:
		return reduceAs(dst, in, recipe[complex64, complex64]{fold: newProduct[complex64]})
	case tensor.Complex128:
		return reduceAs(dst, in, recipe[complex128, complex128]{fold: newProduct[complex128]})
	}
	return runIntegerProd(dst, in)
}

// runIntegerProd multiplies integers.
func runIntegerProd(dst *tensor.Tensor, in *reduced) error {
	switch in.x.DType() {
	case tensor.Uint8:
		return reduceAs(dst, in, recipe[uint8, int64]{fold: newIntProduct[uint8, int64]})
	case tensor.Uint16:
		return reduceAs(dst, in, recipe[uint16, int64]{fold: newIntProduct[uint16, int64]})
	case tensor.Uint32:
		return reduceAs(dst, in, recipe[uint32, int64]{fold: newIntProduct[uint32, int64]})
	case tensor.Int8:
		return reduceAs(dst, in, recipe[int8, int64]{fold: newIntProduct[int8, int64]})
	case tensor.Int16:
		return reduceAs(dst, in, recipe[int16, int64]{fold: newIntProduct[int16, int64]})
	case tensor.Int32:
		return reduceAs(dst, in, recipe[int32, int64]{fold: newIntProduct[int32, int64]})
	case tensor.Int64:
		return reduceAs(dst, in, recipe[int64, int64]{fold: newIntProduct[int64, int64]})
	case tensor.Uint64:
		return reduceAs(dst, in, recipe[uint64, uint64]{fold: newIntProduct[uint64, uint64]})
	}
	return notReduced(in)
}

// notReduced is the error of a dtype that no check has let through.
func notReduced(in *reduced) error { return fmt.Errorf("%w: got %v", tensor.ErrDType, in.x.DType()) }

// spreadOf returns the reduction that makes variances, or their roots.
func spreadOf(name string, correction int, root bool) *reduction {
	finish := func(sums []float64, count int) error {
		for i := range sums {
			sums[i] = variance(sums[i], count, correction)
			if root {
				sums[i] = math.Sqrt(sums[i])
			}
		}
		return nil
	}
	means := summing(mean[float64])
	r := recipe[float64, float64]{
		first: func() fold[float64, float64] { return means.fold(nil) }, joins: true,
		fold: func(first []float64) fold[float64, float64] {
			return &deviations{floatSum: floatSum[float64]{finish: finish}, means: first}
		},
	}
	return &reduction{name, realDType, "real numbers", func(dst *tensor.Tensor, in *reduced) error {
		return reduceWide(dst, in, r, false)
	}, true}
}

// variance divides a sum of squares of so many elements.
func variance(sum float64, count, correction int) float64 {
	if count == 0 || count <= correction {
		return math.NaN()
	}
	return sum / float64(count-correction)
}
