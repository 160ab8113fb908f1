package arith

import (
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/internal/half"
	"github.com/go-tensordict/tensordict/tensor"
)

// widenRecipe returns the recipe of elements that are widened first.
func widenRecipe[S, T, D any](r recipe[T, D], to func(dst []T, src []S)) recipe[S, D] {
	out := recipe[S, D]{positional: r.positional, joins: r.joins, tile: r.tile}
	out.fold = func(first []D) fold[S, D] { return widen(to, r.fold(first)) }
	if r.first != nil {
		out.first = func() fold[S, D] { return widen(to, r.first()) }
	}
	return out
}

// reduceHalf is reduceAs of float16 or bfloat16, by a recipe of float32.
func reduceHalf[D element](dst *tensor.Tensor, in *reduced, r recipe[float32, D]) error {
	if in.x.DType() == tensor.Float16 {
		return reduceAs(dst, in, widenRecipe(r, half.WidenF16))
	}
	return reduceAs(dst, in, widenRecipe(r, half.WidenBF16))
}

// reduceWide is reduceAs of real numbers and bool, by a recipe of float64, or of their squares.
func reduceWide(dst *tensor.Tensor, in *reduced, r recipe[float64, float64], square bool) error {
	switch in.x.DType() {
	case tensor.Bool, tensor.Uint8:
		return reduceAs(dst, in, widenRecipe(r, toFloat64[uint8](square)))
	case tensor.Uint16:
		return reduceAs(dst, in, widenRecipe(r, toFloat64[uint16](square)))
	case tensor.Uint32:
		return reduceAs(dst, in, widenRecipe(r, toFloat64[uint32](square)))
	case tensor.Uint64:
		return reduceAs(dst, in, widenRecipe(r, toFloat64[uint64](square)))
	case tensor.Int8:
		return reduceAs(dst, in, widenRecipe(r, toFloat64[int8](square)))
	case tensor.Int16:
		return reduceAs(dst, in, widenRecipe(r, toFloat64[int16](square)))
	case tensor.Int32:
		return reduceAs(dst, in, widenRecipe(r, toFloat64[int32](square)))
	case tensor.Int64:
		return reduceAs(dst, in, widenRecipe(r, toFloat64[int64](square)))
	case tensor.Float32:
		return reduceAs(dst, in, widenRecipe(r, toFloat64[float32](square)))
	case tensor.Float64:
		if !square {
			return reduceAs(dst, in, r)
		}
		return reduceAs(dst, in, widenRecipe(r, toFloat64[float64](square)))
	case tensor.Float16:
		return reduceAs(dst, in, widenRecipe(r, halfToFloat64(half.F16To32, square)))
	case tensor.BFloat16:
		return reduceAs(dst, in, widenRecipe(r, halfToFloat64(half.BF16To32, square)))
	}
	return fmt.Errorf("%w: got %v", tensor.ErrDType, in.x.DType())
}

// toFloat64 returns what converts numbers, or their squares.
func toFloat64[S realNumber](square bool) func(dst []float64, src []S) {
	if square {
		return func(dst []float64, src []S) {
			for i, v := range src[:len(dst)] {
				dst[i] = float64(v) * float64(v)
			}
		}
	}
	return func(dst []float64, src []S) {
		for i, v := range src[:len(dst)] {
			dst[i] = float64(v)
		}
	}
}

func halfToFloat64(to32 func(uint16) float32, square bool) func(dst []float64, src []uint16) {
	return func(dst []float64, src []uint16) {
		for i, v := range src[:len(dst)] {
			if dst[i] = float64(to32(v)); square {
				dst[i] *= dst[i]
			}
		}
	}
}

// A deviations is a fold that adds the squares of the distances from means.
type deviations struct {
	floatSum[float64]
	means []float64
	mean  []float64 // of the lines
	room  []float64
	list  []int
}

func (d *deviations) begin(at, lines int) {
	d.floatSum.begin(at, lines)
	d.mean = d.means[at : at+lines]
}

func (d *deviations) line(at int, x []float64) {
	for len(x) > 0 {
		n, mean := min(len(x), wideChunk), d.mean[0]
		d.room = grown(d.room, n)
		for i, v := range x[:n] {
			d.room[i] = (v - mean) * (v - mean)
		}
		d.floatSum.line(at, d.room[:n])
		x = x[n:]
	}
}

func (d *deviations) rows(x []float64, r rowList) {
	d.room = grown(d.room, max(len(d.mean), min(wideChunk, len(d.mean)*len(r.offs))))
	for n := len(d.mean); len(r.offs) > 0; {
		part := r.first(min(len(r.offs), len(d.room)/n))
		d.list = d.list[:0]
		for k, off := range part.offs {
			row, mean := d.room[k*n:(k+1)*n], d.mean
			for i, v := range x[off:][:n] {
				row[i] = (v - mean[i]) * (v - mean[i])
			}
			d.list = append(d.list, k*n)
		}
		d.floatSum.rows(d.room, rowList{d.list, part.at})
	}
}

// lines goes line by line, since each has a mean of its own.
func (d *deviations) lines(at int, dst []float64, x []float64, n int) error {
	for i := range dst {
		if err := d.one(at+i, dst[i:i+1], x[i*n:(i+1)*n]); err != nil {
			return err
		}
	}
	return nil
}

func (d *deviations) groups(at int, dst []float64, x []float64, splits []int64) error {
	for i := range dst {
		if err := d.one(at+i, dst[i:i+1], x[splits[i]-splits[0]:splits[i+1]-splits[0]]); err != nil {
			return err
		}
	}
	return nil
}

func (d *deviations) one(at int, dst []float64, x []float64) error {
	d.begin(at, 1)
	d.line(0, x)
	return d.end(dst)
}

func (d *deviations) join(other fold[float64, float64]) {
	d.floatSum.join(&other.(*deviations).floatSum)
}

// summing returns a recipe of sums that are finished by a function, or nil.
func summing[T floats](finish func(sums []T, count int) error) recipe[T, T] {
	return recipe[T, T]{fold: func([]T) fold[T, T] { return &floatSum[T]{finish: finish} }, joins: true}
}

// mean divides sums by how many elements count.
func mean[T float32 | float64](sums []T, count int) error {
	for i := range sums {
		sums[i] /= T(count)
	}
	return nil
}

func mean64(sums []complex64, count int) error {
	n := float32(count)
	for i, v := range sums {
		sums[i] = complex(real(v)/n, imag(v)/n)
	}
	return nil
}

func mean128(sums []complex128, count int) error {
	n := float64(count)
	for i, v := range sums {
		sums[i] = complex(real(v)/n, imag(v)/n)
	}
	return nil
}

// roots replaces sums by their square roots.
func roots(sums []float64, _ int) error {
	for i, v := range sums {
		sums[i] = math.Sqrt(v)
	}
	return nil
}
