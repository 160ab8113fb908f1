package arith

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/half"
	"github.com/go-tensordict/tensordict/internal/vector"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A reduction is an operation that combines many elements into one.
type reduction struct {
	name string
	// makes returns the dtype of the result for elements of dtype d, or 0 if the reduction does not
	// take d.
	makes func(d tensor.DType) tensor.DType
	wants string
	of    func(d tensor.DType) reducing // for elements of a dtype
	// whole, if not nil, is called instead of the result of of.
	whole func(dst *tensor.Tensor, in *reduced) error
}

// reduce applies a reduction to x.
func reduce[T Reducible[T]](r *reduction, x T, o Over) (T, error) {
	s, others, err := scopeOf(x, o)
	if err != nil {
		var none T
		return none, fmt.Errorf("%s: %w", r.name, err)
	}
	return x.Ops().Leafwise(r.kernel(s), others...)
}

func (r *reduction) kernel(s *scope) *tensor.Kernel {
	return &tensor.Kernel{
		Op: r.name, Others: maskOnly, Free: true, Partial: s.some, Batch: s.batch(), Rowwise: s.kind == overFeatures,
		Check: func(xs []*tensor.Tensor, lead int) (tensor.DType, shapeops.Shape, error) {
			x := xs[0]
			d, err := r.dtype(x.DType())
			if err == nil {
				err = checkLeafMask(xs)
			}
			return d, s.shape(x.Shape(), s.reduced(x.Shape(), lead)), err
		},
		Whole: func(dst *tensor.Tensor, xs []*tensor.Tensor, lead int) error {
			in := &reduced{x: xs[0], dims: s.reduced(xs[0].Shape(), lead), splits: s.splits}
			if len(xs) > 1 {
				in.mask = xs[1]
				if in.mask.Lender() != nil { // another process may write to a mapped file
					var err error
					if in.mask, err = in.mask.Clone(); err != nil {
						return err
					}
				}
			}
			if err := in.sort(s.rows, r.whole == nil); err != nil {
				return err
			}
			if r.whole != nil {
				return r.whole(dst, in)
			}
			a, order, err := in.arranged()
			if err != nil || dst.Size() == 0 {
				return err
			}
			by := r.of(xs[0].DType())
			sorted := in.sorted(order)
			switch {
			case sorted && dst.DType() == by.makes:
				return by.into(dst, a)
			case sorted && dst.DType() == tensor.Bool:
				if dst, err = dst.Reinterpret(by.makes); err != nil {
					return err
				}
				return by.into(dst, a)
			case sorted:
				return viaWider(dst, by.makes, func(wide *tensor.Tensor) error { return by.into(wide, a) })
			}
			made, err := tensor.New(by.makes, a.results()...)
			if err == nil {
				err = by.into(made, a)
			}
			if err != nil {
				return err
			}
			back := make([]int, len(order)) // the order of dims in x
			for at, dim := range order {
				back[dim] = at
			}
			if made, err = made.Permute(back...); err == nil {
				made, err = made.Reshape(dst.Shape()...)
			}
			if err != nil {
				return err
			}
			return made.CastInto(dst)
		},
	}
}

// sort puts the mask, and the elements if they are read, into the order of rows, if that is not
// nil.
func (in *reduced) sort(rows *tensor.Tensor, read bool) (err error) {
	if rows == nil {
		return nil
	}
	if in.mask != nil && len(in.mask.Shape()) > 0 {
		if in.mask, err = in.mask.Take(0, rows); err != nil {
			return err
		}
	}
	if read {
		in.x, err = in.x.Take(0, rows)
	}
	return err
}

var maskOnly = []string{"mask"}

// dtype returns the dtype of the result for elements of dtype d.
func (r *reduction) dtype(d tensor.DType) (tensor.DType, error) {
	if made := r.makes(d); made != 0 {
		return made, nil
	}
	return 0, fmt.Errorf("%w: got %v, want %s", tensor.ErrDType, d, r.wants)
}

// checkLeafMask checks the mask of a leaf, if there is one.
func checkLeafMask(xs []*tensor.Tensor) error {
	if len(xs) < 2 {
		return nil
	}
	x, mask := xs[0], xs[1]
	if mask.DType() != tensor.Bool {
		return fmt.Errorf("mask: %w: got %v, want bool, as comparisons return", tensor.ErrDType, mask.DType())
	}
	if !x.Shape().HasPrefix(mask.Shape()) {
		return fmt.Errorf("mask: %w: got %v, want the leading dims of %v", shapeops.ErrShape, mask.Shape(), x.Shape())
	}
	return nil
}

// A way is a method of reducing many numbers of one dtype to one number.
type way uint8

// The ways. Integers without a fold for a way are converted to float64.
const (
	inFloat64 way = iota
	inSquares     // in float64, of the squares
	sums
	means
	checkedMeans // a mean that is out of range is errRange
	products
	least
	greatest
	whereLeast
	whereGreatest
)

// isMax reports whether w looks for the greatest number.
func (w way) isMax() bool { return w == greatest || w == whereGreatest }

// with returns the function that reduces tensors of dtype d by w. wide is the recipe for reductions
// in float64.
func (w way) with(wide recipe[float64, float64]) func(d tensor.DType) reducing {
	return func(d tensor.DType) reducing {
		switch d {
		case tensor.Bool, tensor.Uint8:
			return integersBy[uint8, int64](w, wide)
		case tensor.Uint16:
			return integersBy[uint16, int64](w, wide)
		case tensor.Uint32:
			return integersBy[uint32, int64](w, wide)
		case tensor.Uint64:
			return integersBy[uint64, uint64](w, wide)
		case tensor.Int8:
			return integersBy[int8, int64](w, wide)
		case tensor.Int16:
			return integersBy[int16, int64](w, wide)
		case tensor.Int32:
			return integersBy[int32, int64](w, wide)
		case tensor.Int64:
			return integersBy[int64, int64](w, wide)
		case tensor.Float16:
			return floatsBy(w, vector.WidenF16, wide, halfToFloat64(w, half.F16To32))
		case tensor.BFloat16:
			return floatsBy(w, vector.WidenBF16, wide, halfToFloat64(w, half.BF16To32))
		case tensor.Float32:
			return floatsBy[float32, float32](w, nil, wide, times[float32](1, w == inSquares))
		case tensor.Float64:
			if w == inSquares {
				return widenRecipe(wide, times[float64](1, true)).reducing()
			}
			return floatsBy[float64, float64](w, nil, wide, nil)
		case tensor.Complex64:
			return complexBy[complex64](w)
		}
		return complexBy[complex128](w)
	}
}

// integersBy reduces integers, and bools as integers. Sums and products are of type D.
func integersBy[T integers, D int64 | uint64](w way, wide recipe[float64, float64]) reducing {
	switch w {
	case sums:
		return recipe[T, D]{fold: newIntSum[T, D], joins: true}.reducing()
	case products:
		return recipe[T, D]{fold: newIntProduct[T, D]}.reducing()
	case least, greatest:
		return extremes[T](w.isMax()).reducing()
	case whereLeast, whereGreatest:
		return positions[T](w.isMax()).reducing()
	}
	return widenRecipe(wide, times[T](1, w == inSquares)).reducing()
}

// floatsBy reduces elements of type S, which are computed as T. to widens them to T, and to64 to
// float64; either is nil if S is that type.
func floatsBy[S element, T ordinary](w way, to func([]T, []S), wide recipe[float64, float64], to64 func([]float64, []S)) reducing {
	switch w {
	case sums:
		return via(summing[T](nil), to)
	case means:
		return via(evenly(summing(mean[T](false))), to)
	case checkedMeans:
		return via(evenly(summing(mean[T](true))), to)
	case products:
		return via(recipe[T, T]{fold: newProduct[T]}, to)
	case least, greatest:
		return via(extremes[T](w.isMax()), to)
	case whereLeast, whereGreatest:
		return via(positions[T](w.isMax()), to)
	}
	return via(wide, to64)
}

// complexBy reduces complex numbers.
func complexBy[T complex64 | complex128](w way) reducing {
	switch w {
	case sums:
		return summing[T](nil).reducing()
	case means, checkedMeans:
		return evenly(summing(meanComplex[T])).reducing()
	}
	return recipe[T, T]{fold: func([]T) fold[T, T] { return new(complexProduct[T]) }}.reducing()
}

// via returns the reduction of elements of type S by a recipe for T. to widens them; it is nil if S
// is T.
func via[S, T, D element](r recipe[T, D], to func(dst []T, src []S)) reducing {
	if to == nil {
		return r.reducing()
	}
	return widenRecipe(r, to).reducing()
}

// times returns a function that multiplies numbers, converted to float64, by a factor, and squares
// the products if squares is true.
func times[S realNumber](factor float64, squares bool) func(dst []float64, src []S) {
	if squares {
		return func(dst []float64, src []S) {
			for i, v := range src[:len(dst)] {
				wide := float64(v) * factor
				dst[i] = wide * wide
			}
		}
	}
	return func(dst []float64, src []S) {
		for i, v := range src[:len(dst)] {
			dst[i] = float64(v) * factor
		}
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
