package arith

import (
	"errors"
	"math"

	"github.com/go-tensordict/tensordict/internal/half"
	"github.com/go-tensordict/tensordict/tensor"
)

// errRange stops a reduction at a result that a sum out of range may have spoiled.
var errRange = errors.New("a sum is out of range")

// inRange returns the reduction by w and the recipe plain, in which a sum may leave the range of
// float64, or of float32 for means, though the result is in it. First it tries a way and a recipe
// that return errRange at such a result. Then plain computes all results. Infinite ones are
// computed again from scaled numbers, and except for means small ones too, since their squares may
// have lost bits.
func inRange(try, w way, checked, plain recipe[float64, float64]) func(d tensor.DType) reducing {
	return func(d tensor.DType) reducing {
		first := try.with(checked)(d)
		return reducing{first.makes, func(dst *tensor.Tensor, a arranged) error {
			err := first.into(dst, a)
			if !errors.Is(err, errRange) {
				return err
			}
			if err = w.with(plain)(d).into(dst, a); err != nil {
				return err
			}
			var large, small bool
			switch {
			case d == tensor.BFloat16 && w == means:
				large = true
			case d == tensor.Float64 || d == tensor.Float32 && w == means:
				if large, small, err = outliers(dst); err != nil {
					return err
				}
			}
			if large {
				err = w.again(dst, a, plain, scaleDown, func(v float64) bool { return math.IsInf(v, 0) })
			}
			if err == nil && small && w != means {
				err = w.again(dst, a, plain, scaleUp, func(v float64) bool { return math.Abs(v) < smallest })
			}
			return err
		}}
	}
}

// The factors, powers of two: their squares, and products with the numbers that they are for, are
// in the range of float64.
const (
	scaleDown = 0x1p-600
	scaleUp   = 0x1p+600
	smallest  = 0x1p-450 // results below it may be made of squares that have lost bits
)

// outliers reports whether an element of t is infinite, and whether one is small.
func outliers(t *tensor.Tensor) (large, small bool, err error) {
	wide, err := t.Cast(tensor.Float64)
	if err != nil {
		return false, false, err
	}
	err = tensor.Read(wide, func(s []float64) {
		for _, v := range s {
			v = math.Abs(v)
			large, small = large || v > math.MaxFloat64, small || v < smallest
		}
	})
	return large, small, err
}

// again replaces the elements of dst for which wrong returns true by results of scaled numbers.
func (w way) again(dst *tensor.Tensor, a arranged, wide recipe[float64, float64], scale float64, wrong func(v float64) bool) error {
	back, err := tensor.New(tensor.Float64, dst.Shape()...)
	if err != nil {
		return err
	}
	switch a.x.DType() {
	case tensor.BFloat16: // float64 holds any sum of them
		scale = 1
		err = widenRecipe(wide, halfToFloat64(w, half.BF16To32)).into(back, a)
	case tensor.Float32:
		err = widenRecipe(wide, times[float32](scale, w == inSquares)).into(back, a)
	default:
		err = widenRecipe(wide, times[float64](scale, w == inSquares)).into(back, a)
	}
	if err != nil {
		return err
	}
	return viaWider(dst, tensor.Float64, func(now *tensor.Tensor) error {
		if err := dst.CastInto(now); err != nil {
			return err
		}
		scaled, err := tensor.Of[float64](back)
		if err != nil {
			return err
		}
		return tensor.Write(now, func(to []float64) {
			for i, v := range scaled {
				if wrong(to[i]) && v == v { // NaN: the scaled numbers were out of range
					to[i] = v / scale
				}
			}
		})
	})
}
