package transform

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Standard is a transform that makes (x - mean) / deviation of each x, with a mean and a standard
// deviation for each column. A column is a position after the batch shape, of one leaf. NaN stays
// NaN. [FitStandard] and [StandardFrom] make Standards; the zero Standard changes nothing.
//
// Leaves that it has no statistics for stay. It computes in float64, whatever the dtype of a leaf.
//
// Safe for concurrent use.
type Standard struct {
	mean, std *tdict.TensorDict // float64 [F...], batch shape []
}

// newStandard returns a Standard of statistics, which nobody may change from now on.
func newStandard(mean, std *tdict.TensorDict) *Standard {
	mean.Lock()
	std.Lock()
	return &Standard{mean, std}
}

// Mean returns the means: float64 [F...] under the key of each leaf, batch shape []. They are the
// Standard's own, to be read only.
func (s *Standard) Mean() *tdict.TensorDict { return orEmpty(s.mean) }

// Std returns the standard deviations, as Mean does the means: positive numbers, 1 where the rows
// that it was fitted on do not differ.
func (s *Standard) Std() *tdict.TensorDict { return orEmpty(s.std) }

func orEmpty(td *tdict.TensorDict) *tdict.TensorDict {
	if td == nil {
		return tdict.New()
	}
	return td
}

// String returns how many columns there are.
func (s *Standard) String() string {
	n := 0
	for _, mean := range s.Mean().Tensors() {
		n += mean.Size()
	}
	if n == 1 {
		return "standard: 1 column"
	}
	return fmt.Sprintf("standard: %d columns", n)
}

// Apply returns td with (x - mean) / deviation in the place of each x:
//
//	leaves [B... F...], mean [F...] -> [B... F...]
//
// B... is the batch shape of td, which need not be that of what the Standard was fitted on. Apply
// returns tdict.ErrMissing if td lacks a leaf, tensor.ErrDType if one is not floating-point, and
// shapeops.ErrShape if its columns are not those that there are statistics of.
func (s *Standard) Apply(td *tdict.TensorDict, _ Draw) (*tdict.TensorDict, error) {
	return s.each(td, standardise)
}

// Invert returns td with x * deviation + mean in the place of each x: what was given to Apply, but
// for rounding. Its errors are those of Apply.
func (s *Standard) Invert(td *tdict.TensorDict) (*tdict.TensorDict, error) {
	return s.each(td, restore)
}

// each applies a kernel to each leaf that there are statistics of.
func (s *Standard) each(td *tdict.TensorDict, k *tensor.Kernel) (*tdict.TensorDict, error) {
	if td == nil {
		return nil, fmt.Errorf("standard: %w: got a nil dictionary", tdict.ErrKind)
	}
	out := td.Copy()
	for key, mean := range s.Mean().Tensors() {
		std, err := s.std.Tensor(key)
		if err != nil {
			return nil, err
		}
		x, err := td.Tensor(key)
		if err != nil {
			return nil, named("standard", err)
		}
		if x, err = onColumns(x, len(td.Shape()), k, mean, std); err != nil {
			return nil, &tdict.KeyError{Op: "standard", Key: key, Err: err}
		}
		if err := out.Set(key, x); err != nil {
			return nil, named("standard", err)
		}
	}
	return out, nil
}

// onColumns applies a kernel to a leaf with so many batch dims.
func onColumns(x *tensor.Tensor, batch int, k *tensor.Kernel, mean, std *tensor.Tensor) (*tensor.Tensor, error) {
	if err := x.Shape()[batch:].CheckEqual(mean.Shape()); err != nil {
		return nil, fmt.Errorf("columns: %w", err)
	}
	dtype := x.DType()
	if dtype.Size() > 2 || !dtype.IsFloat() {
		return x.Leafwise(k, mean, std)
	}
	wide, err := x.Cast(tensor.Float32)
	if err != nil {
		return nil, err
	}
	if err := wide.LeafwiseInto(wide, k, mean, std); err != nil {
		return nil, err
	}
	return wide.Cast(dtype)
}

// The kernels: their operands are x, mean, deviation.
var (
	standardise = columnKernel(standardised[float32], standardised[float64])
	restore     = columnKernel(restored[float32], restored[float64])
)

func columnKernel(single func(dst []float32, x spread[float32], mean, std spread[float64]),
	double func(dst []float64, x, mean, std spread[float64])) *tensor.Kernel {
	return &tensor.Kernel{
		Check: func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
			d := xs[0].DType()
			if !d.IsFloat() {
				return 0, nil, fmt.Errorf("%w: got %v, want floating-point numbers", tensor.ErrDType, d)
			}
			return d, xs[0].Shape(), nil
		},
		Elements: func(b *tensor.Block) error {
			if b.DType == tensor.Float32 {
				onRows(b, single)
			} else {
				onRows(b, double)
			}
			return nil
		},
	}
}

// A spread is elements of one operand: the i-th is s[i*step].
type spread[T any] struct {
	s    []T
	step int
}

// onRows calls fn for each row of a block, or for all at once if no operand has one element a row.
func onRows[T cast.Fixed](b *tensor.Block, fn func(dst []T, x spread[T], mean, std spread[float64])) {
	dst, _ := cast.Slice[T](b.Dst)
	width := len(dst)
	if slices.ContainsFunc(b.Src, func(l tensor.Lane) bool { return l.Per == tensor.PerRow }) {
		width = b.Width
	}
	for row := range len(dst) / max(1, width) {
		fn(dst[row*width:][:width], rowOf[T](&b.Src[0], row, width),
			rowOf[float64](&b.Src[1], row, width), rowOf[float64](&b.Src[2], row, width))
	}
}

// rowOf returns a row of an operand.
func rowOf[T cast.Fixed](lane *tensor.Lane, row, width int) spread[T] {
	s, _ := cast.Slice[T](lane.Bytes)
	switch lane.Per {
	case tensor.PerElement:
		return spread[T]{s[row*width:][:width], 1}
	case tensor.PerRow:
		return spread[T]{s[row:], 0}
	}
	return spread[T]{s, 0}
}

func standardised[T float32 | float64](dst []T, x spread[T], mean, std spread[float64]) {
	for i := range dst {
		dst[i] = T((float64(x.s[i*x.step]) - mean.s[i*mean.step]) / std.s[i*std.step])
	}
}

func restored[T float32 | float64](dst []T, x spread[T], mean, std spread[float64]) {
	for i := range dst {
		dst[i] = T(float64(float64(x.s[i*x.step])*std.s[i*std.step]) + mean.s[i*mean.step])
	}
}
