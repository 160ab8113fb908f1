package arith

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// CumSum returns running sums of x along one dim, or within each group of [BySplits]:
//
//	x [A N B], Dims(1): out[a n b] = x[a 0 b] + ... + x[a n b] -> [A N B]
//
// An element that does not count adds 0: its running sum equals the one before it. Batch shapes,
// names of dims and values that are not tensors stay as they are. Keep has no effect.
//
// The dtypes of the result are as for [Sum]. Floating-point and complex numbers are added one after
// the other, from 0 on: float32 and complex64 in float64, each result rounded; float64 and
// complex128 with the rounding error of each addition, which is added to the results. float16 and
// bfloat16 have the results of float32, rounded. So running sums do not drift, and they do not
// descend if no number is negative. The last one may differ from Sum in its last bits.
//
// CumSum returns the errors of the Over, shapeops.ErrDim unless over is exactly one dim or
// BySplits, tensor.ErrDType if the dtype does not hold a sum of integers, and tensor.ErrKind if x
// is nil. The result shares no memory with x. (Python: cumsum.)
func CumSum[T Reducible[T]](x T, over Over) (T, error) {
	k, others, err := runningKernel(x, over)
	return leafwise("cum sum", k, err, x, others...)
}

// CumSumInto is [CumSum] into dst, which has the dtypes and shapes of the result. dst may be x if
// the dtypes stay. It also returns the errors of tensor.Transfer; on an error nothing has changed.
func CumSumInto[T Reducible[T]](dst, x T, over Over) error {
	k, others, err := runningKernel(x, over)
	return leafwiseInto("cum sum", k, err, dst, x, others...)
}

func runningKernel[T Reducible[T]](x T, over Over) (*tensor.Kernel, []any, error) {
	s, others, err := scopeOf(x, over)
	if err == nil && len(s.dims) != 1 {
		err = fmt.Errorf("%w: got an Over of no dim or of several, want Dims of one dim, or BySplits", shapeops.ErrDim)
	}
	if err != nil {
		return nil, nil, err
	}
	k := sumOf.kernel(s)
	k.Op, k.Batch, k.Rowwise, k.Fails = "cum sum", nil, false, always
	k.Check = func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
		d, err := sumOf.dtype(xs[0].DType())
		if err == nil {
			err = checkLeafMask(xs)
		}
		return d, xs[0].Shape(), err
	}
	k.Whole = func(dst *tensor.Tensor, xs []*tensor.Tensor, _ int) error { return cumSum(dst, xs, s) }
	return k, others, nil
}

// cumSum sets dst, which is contiguous, to the running sums of xs[0]. xs[1], if present, is the
// mask.
func cumSum(dst *tensor.Tensor, xs []*tensor.Tensor, s *scope) error {
	x, d := xs[0], dst.DType()
	if d == tensor.Float16 || d == tensor.BFloat16 {
		return viaWider(dst, tensor.Float32, func(wide *tensor.Tensor) error { return cumSum(wide, xs, s) })
	}
	var err error
	if x.DType() != d {
		if x, err = x.Cast(d); err != nil {
			return err
		}
	}
	if len(xs) > 1 {
		err = WhereInto(dst, xs[1], x, 0)
	} else {
		err = dst.CopyFrom(x)
	}
	if err != nil || dst.Size() == 0 {
		return err
	}
	return runningAs(dst, s)
}

// runningAs turns the elements of a contiguous tensor into running sums.
func runningAs(t *tensor.Tensor, s *scope) error {
	dim, shape := s.dims[0], t.Shape()
	r := running{shape[:dim].Size(), shape[dim], shape[dim+1:].Size(), s.splits}
	if r.splits == nil {
		r.splits = []int64{0, int64(r.n)}
	}
	switch t.DType() {
	case tensor.Float32:
		return runAll(t, r, func() adder[float32] { return &wideSums{} })
	case tensor.Float64:
		return runAll(t, r, func() adder[float64] { return &exactSums{} })
	case tensor.Complex64:
		return runAll(t, r, func() adder[complex64] { return &wideComplexSums{} })
	case tensor.Complex128:
		return runAll(t, r, func() adder[complex128] { return &exactComplexSums{} })
	case tensor.Uint64:
		return runAll(t, r, func() adder[uint64] { return &wholeSums[uint64]{} })
	}
	return runAll(t, r, func() adder[int64] { return &wholeSums[int64]{} })
}

// A running holds the lines of [outer n inner] along n, which splits divides into groups.
type running struct {
	outer, n, inner int
	splits          []int64
}

// runAll turns all lines into running sums, with an adder for each core. It returns tensor.ErrDType
// if a sum wraps around.
func runAll[T element](t *tensor.Tensor, r running, newAdder func() adder[T]) error {
	tile := max(16, min(2048, (r.inner+1)/2))
	tiles := (r.inner + tile - 1) / tile
	units := r.outer * tiles
	cores := min(units, workers.Count(0, t.Size()/minWork+1))
	s, err := tensor.Of[T](t)
	if err != nil {
		return err
	}
	return workers.Do(context.Background(), cores, cores, func(core int) error {
		w := sumRunner[T]{running: r, s: s, add: newAdder(), tile: tile}
		for u := units * core / cores; u < units*(core+1)/cores; u++ {
			w.unit(u/tiles, u%tiles*tile)
		}
		if w.wrapped {
			return fmt.Errorf("%w: a sum overflows %v", tensor.ErrDType, t.DType())
		}
		return nil
	})
}

// A sumRunner is the work of one core on a running.
type sumRunner[T element] struct {
	running
	s       []T
	add     adder[T]
	tile    int // most lines at a time
	wrapped bool
}

// unit computes the running sums of one tile: the lines of outer position o that begin at column
// from.
func (w *sumRunner[T]) unit(o, from int) {
	s := w.s[o*w.n*w.inner+from : (o+1)*w.n*w.inner]
	for g := range len(w.splits) - 1 {
		lo, hi := int(w.splits[g]), int(w.splits[g+1])
		if w.inner == 1 {
			w.wrapped = w.add.line(s[lo:hi]) || w.wrapped
			continue
		}
		width := min(w.tile, w.inner-from)
		w.add.begin(width)
		for ; lo < hi; lo++ {
			w.wrapped = w.add.row(s[lo*w.inner:][:width]) || w.wrapped
		}
	}
}
