package transform

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Standard is a transform that replaces each x by (x - mean) / deviation, with a mean and a
// standard deviation for each column. Columns are the dims after the batch shape of a dense leaf,
// and the features of a ragged one. NaN stays NaN. [FitStandard] and [StandardFrom] return
// Standards; the zero Standard changes nothing.
//
// Leaves without statistics do not change. A Standard computes in float64 for every dtype.
//
// Safe for concurrent use.
type Standard struct {
	mean, std *tdict.TensorDict     // float64 [F...], batch shape []
	levels    map[nestedkey.Key]int // number of dims between the batch and the columns, if not 0
}

// add adds the statistics of a leaf.
func (s *Standard) add(key nestedkey.Key, mean, std *tensor.Tensor, levels int) error {
	if err := s.mean.Set(key, mean); err != nil {
		return err
	}
	if levels > 0 {
		s.levels[key] = levels
	}
	return s.std.Set(key, std)
}

// locked locks s, to which no statistics can be added afterwards.
func (s *Standard) locked() *Standard {
	s.mean.Lock()
	s.std.Lock()
	return s
}

// Mean returns the means: float64 [F...] under the key of each leaf, batch shape []. They share the
// memory of the Standard and are read-only.
func (s *Standard) Mean() *tdict.TensorDict { return orEmpty(s.mean) }

// Std returns the standard deviations in the form of Mean. They are positive; a constant column has
// 1.
func (s *Standard) Std() *tdict.TensorDict { return orEmpty(s.std) }

func orEmpty(td *tdict.TensorDict) *tdict.TensorDict {
	if td == nil {
		return tdict.New()
	}
	return td
}

// String returns the number of columns.
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

// Apply returns td with each x replaced by (x - mean) / deviation:
//
//	dense leaves [B... F...], mean [F...] -> [B... F...]
//	ragged leaves [B... * * F...], mean [F...] -> [B... * * F...]
//
// B... is the batch shape of td, which may differ from the batch shape of the fit. A leaf that was
// ragged in the fit may now be dense: padded, [B... L M F...], or with fewer of these dims. Its
// values are then equal to the values of the ragged leaf, bit for bit. Padding changes like any
// value: 0 becomes -mean / deviation. To get padding that is 0, pad after Apply, or pad with NaN
// and apply [FillNaN] next.
//
// Ragged leaves of the result share the layouts of td. Apply returns tdict.ErrMissing if td lacks a
// leaf, tensor.ErrDType if a leaf is not floating-point, and shapeops.ErrShape if its columns
// differ from the fit.
func (s *Standard) Apply(td *tdict.TensorDict, _ Draw) (*tdict.TensorDict, error) {
	return s.each(td, standardise)
}

// Invert returns td with each x replaced by x * deviation + mean. It reverses Apply, except for
// rounding, and returns the errors of Apply.
func (s *Standard) Invert(td *tdict.TensorDict) (*tdict.TensorDict, error) {
	return s.each(td, restore)
}

// each applies a kernel to each leaf that has statistics.
func (s *Standard) each(td *tdict.TensorDict, k *tensor.Kernel) (*tdict.TensorDict, error) {
	if td == nil {
		return nil, fmt.Errorf("standard: %w: got a nil dictionary", tdict.ErrKind)
	}
	out := td.Copy()
	var p plan.Pass
	for key, mean := range s.Mean().Tensors() {
		std, err := s.std.Tensor(key)
		if err != nil {
			return nil, err
		}
		x, err := s.applied(td, key, &columns{k, mean, std}, &p)
		if err == nil {
			err = out.Set(key, x)
		}
		if err != nil {
			return nil, errtext.Named("standard", err)
		}
	}
	return out, nil
}

// applied returns the result for the leaf under a key.
func (s *Standard) applied(td *tdict.TensorDict, key nestedkey.Key, c *columns, p *plan.Pass) (tdict.Value, error) {
	v, err := td.Get(key)
	if err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case *ragged.Tensor:
		v, err = c.ofLists(x, p)
	case *tensor.Tensor:
		v, err = c.ofDense(x, x.Shape()[len(td.Shape()):], s.levels[key])
	default:
		return td.Tensor(key) // returns an error
	}
	if err != nil {
		return nil, &tdict.KeyError{Key: key, Err: err}
	}
	return v, nil
}

// columns is a kernel with the statistics of a leaf.
type columns struct {
	kernel    *tensor.Kernel
	mean, std *tensor.Tensor
}

// ofLists returns the result for a ragged leaf.
func (c *columns) ofLists(x *ragged.Tensor, p *plan.Pass) (*ragged.Tensor, error) {
	if err := c.check(x.Features(), 0); err != nil {
		return nil, err
	}
	x, err := x.Ops().(plan.Nested[*ragged.Tensor, *ragged.Layout]).CompactIn(p)
	if err != nil {
		return nil, err
	}
	return x.MapValues(c.of)
}

// ofDense returns the result for a dense leaf. dims are its dims after the batch shape; at most
// levels of them come before the columns.
func (c *columns) ofDense(x *tensor.Tensor, dims shapeops.Shape, levels int) (*tensor.Tensor, error) {
	if err := c.check(dims, levels); err != nil {
		return nil, err
	}
	return c.of(x)
}

// check returns an error unless dims are at most levels dims followed by the columns.
func (c *columns) check(dims shapeops.Shape, levels int) error {
	want := c.mean.Shape()
	before := len(dims) - len(want)
	if before >= 0 && before <= levels && dims[before:].Equal(want) {
		return nil
	}
	if levels == 0 {
		return fmt.Errorf("columns: %w: got %v, want %v", shapeops.ErrShape, dims, want)
	}
	return fmt.Errorf("columns: %w: got %v, want %v after up to %d padded dims", shapeops.ErrShape, dims, want, levels)
}

// of applies the kernel to the columns in the last dims of x.
func (c *columns) of(x *tensor.Tensor) (*tensor.Tensor, error) {
	dtype := x.DType()
	if dtype.Size() > 2 || !dtype.IsFloat() {
		return x.Ops().Leafwise(c.kernel, c.mean, c.std)
	}
	wide, err := x.Cast(tensor.Float32)
	if err != nil {
		return nil, err
	}
	if err := wide.Ops().LeafwiseInto(wide, c.kernel, c.mean, c.std); err != nil {
		return nil, err
	}
	return wide.Cast(dtype)
}

// The kernels. Their operands are x, mean and deviation.
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

// A spread is the elements of one operand: element i is s[i*step].
type spread[T any] struct {
	s    []T
	step int
}

// onRows calls fn for each row of a block. If no operand has one element per row, it calls fn once
// for the whole block.
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
