package arith

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/half"
	"github.com/go-tensordict/tensordict/internal/vector"
	"github.com/go-tensordict/tensordict/tensor"
)

// A way is a method of reducing many numbers of one dtype to one number.
type way uint8

// The ways. Integers without a fold for a way are converted to float64.
const (
	inFloat64 way = iota
	inSquares     // in float64, of the squares
	sums
	means
	products
	least
	greatest
	whereLeast
	whereGreatest
)

// isMax reports whether w looks for the greatest number.
func (w way) isMax() bool { return w == greatest || w == whereGreatest }

// run returns the function that reduces tensors of any dtype by w. wide is the recipe for
// reductions in float64.
func (w way) run(wide recipe[float64, float64]) func(dst *tensor.Tensor, in *reduced) error {
	return func(dst *tensor.Tensor, in *reduced) error {
		switch in.x.DType() {
		case tensor.Bool, tensor.Uint8:
			return reduceIntegers[uint8, int64](dst, in, w, wide)
		case tensor.Uint16:
			return reduceIntegers[uint16, int64](dst, in, w, wide)
		case tensor.Uint32:
			return reduceIntegers[uint32, int64](dst, in, w, wide)
		case tensor.Uint64:
			return reduceIntegers[uint64, uint64](dst, in, w, wide)
		case tensor.Int8:
			return reduceIntegers[int8, int64](dst, in, w, wide)
		case tensor.Int16:
			return reduceIntegers[int16, int64](dst, in, w, wide)
		case tensor.Int32:
			return reduceIntegers[int32, int64](dst, in, w, wide)
		case tensor.Int64:
			return reduceIntegers[int64, int64](dst, in, w, wide)
		case tensor.Float16:
			return reduceFloats(dst, in, w, vector.WidenF16, wide, halfToFloat64(w, half.F16To32))
		case tensor.BFloat16:
			return reduceFloats(dst, in, w, vector.WidenBF16, wide, halfToFloat64(w, half.BF16To32))
		case tensor.Float32:
			return reduceFloats[float32, float32](dst, in, w, nil, wide, toFloat64[float32](w))
		case tensor.Float64:
			var to64 func(dst, src []float64)
			if w == inSquares {
				to64 = square[float64]
			}
			return reduceFloats[float64, float64](dst, in, w, nil, wide, to64)
		case tensor.Complex64:
			return reduceComplex(dst, in, w, mean64)
		case tensor.Complex128:
			return reduceComplex(dst, in, w, mean128)
		}
		return fmt.Errorf("%w: got %v", tensor.ErrDType, in.x.DType())
	}
}

// reduceIntegers reduces integers, and bools as integers. Sums and products are of type D.
func reduceIntegers[T integers, D int64 | uint64](dst *tensor.Tensor, in *reduced, w way, wide recipe[float64, float64]) error {
	switch w {
	case sums:
		return reduceAs(dst, in, recipe[T, D]{fold: newIntSum[T, D], joins: true})
	case products:
		return reduceAs(dst, in, recipe[T, D]{fold: newIntProduct[T, D]})
	case least, greatest:
		return reduceAs(dst, in, extremes[T](w.isMax()))
	case whereLeast, whereGreatest:
		return reduceAs(dst, in, positions[T](w.isMax()))
	}
	return reduceVia(dst, in, wide, toFloat64[T](w))
}

// reduceFloats reduces elements of type S, which are computed as T. to widens them to T, and to64
// to float64; either is nil if S is that type.
func reduceFloats[S element, T ordinary](dst *tensor.Tensor, in *reduced, w way, to func([]T, []S),
	wide recipe[float64, float64], to64 func([]float64, []S)) error {
	switch w {
	case sums:
		return reduceVia(dst, in, summing[T](nil), to)
	case means:
		finish := mean[T]
		if in.checked {
			finish = checkedMean[T]
		}
		return reduceVia(dst, in, evenly(summing(finish)), to)
	case products:
		return reduceVia(dst, in, recipe[T, T]{fold: newProduct[T]}, to)
	case least, greatest:
		return reduceVia(dst, in, extremes[T](w.isMax()), to)
	case whereLeast, whereGreatest:
		return reduceVia(dst, in, positions[T](w.isMax()), to)
	}
	return reduceVia(dst, in, wide, to64)
}

// reduceComplex reduces complex numbers. mean divides sums by the number of elements.
func reduceComplex[T complex64 | complex128](dst *tensor.Tensor, in *reduced, w way, mean func([]T, int) error) error {
	switch w {
	case sums:
		return reduceAs(dst, in, summing[T](nil))
	case means:
		return reduceAs(dst, in, evenly(summing(mean)))
	}
	return reduceAs(dst, in, recipe[T, T]{fold: newProduct[T]})
}

// reduceVia is reduceAs of elements of type S, by a recipe for T. to widens them; it is nil if S is
// T.
func reduceVia[S, T, D element](dst *tensor.Tensor, in *reduced, r recipe[T, D], to func(dst []T, src []S)) error {
	if to == nil {
		return reduceAs(dst, in, r)
	}
	return reduceAs(dst, in, widenRecipe(r, to))
}

// toFloat64 returns a function that converts numbers to float64, or to their squares.
func toFloat64[S realNumber](w way) func(dst []float64, src []S) {
	if w == inSquares {
		return square[S]
	}
	return convert[S]
}

func convert[S realNumber](dst []float64, src []S) {
	for i, v := range src[:len(dst)] {
		dst[i] = float64(v)
	}
}

func square[S realNumber](dst []float64, src []S) {
	for i, v := range src[:len(dst)] {
		dst[i] = float64(v) * float64(v)
	}
}

func halfToFloat64(w way, to32 func(uint16) float32) func(dst []float64, src []uint16) {
	return func(dst []float64, src []uint16) {
		for i, v := range src[:len(dst)] {
			if dst[i] = float64(to32(v)); w == inSquares {
				dst[i] *= dst[i]
			}
		}
	}
}
