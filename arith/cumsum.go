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
// names of dims, unbatched tensors and Data stay as they are. Keep has no effect.
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
	if err == nil && (len(s.dims) != 1 || s.rows != nil) {
		err = fmt.Errorf("%w: got an Over of no dim, of several or of groups, want Dims of one dim, or BySplits", shapeops.ErrDim)
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
	inner := dst.Shape()[s.dims[0]+1:].Size()
	switch d {
	case tensor.Float32:
		return runAll(dst, s, inner, wideSums)
	case tensor.Float64:
		return runAll(dst, s, inner, exactSums)
	case tensor.Complex64, tensor.Complex128: // as pairs of real numbers
		part := tensor.Float32
		if d == tensor.Complex128 {
			part = tensor.Float64
		}
		pairs, err := dst.Reinterpret(part)
		switch {
		case err != nil:
			return err
		case d == tensor.Complex64:
			return runAll(pairs, s, 2*inner, wideSums)
		}
		return runAll(pairs, s, 2*inner, exactSums)
	case tensor.Uint64:
		return runAll(dst, s, inner, wholeSums[uint64])
	}
	return runAll(dst, s, inner, wholeSums[int64])
}

// runAll turns the elements of a contiguous tensor into running sums along a dim with inner
// elements at each position. It calls newAdder on each core: the function that newAdder returns
// turns rows of width elements, of which each begins step elements after the one before it, into
// running sums, and reports whether a sum wraps around.
func runAll[T element](t *tensor.Tensor, s *scope, inner int, newAdder func() func(x []T, step, width int) bool) error {
	dim, shape, splits := s.dims[0], t.Shape(), s.splits
	n := t.Size() / (shape[:dim].Size() * inner)
	if splits == nil {
		splits = []int64{0, int64(n)}
	}
	tile := max(16, min(2048, (inner+1)/2))
	tiles := (inner + tile - 1) / tile
	units := shape[:dim].Size() * tiles
	cores := min(units, workers.Count(0, t.Size()/minWork+1))
	all, err := tensor.Of[T](t)
	if err != nil {
		return err
	}
	return workers.Do(context.Background(), cores, cores, func(core int) error {
		add, wrapped := newAdder(), false
		for u := units * core / cores; u < units*(core+1)/cores; u++ {
			from := u % tiles * tile
			x := all[u/tiles*n*inner:][:n*inner]
			for g, lo := range splits[:len(splits)-1] {
				if hi := splits[g+1]; hi > lo {
					wrapped = add(x[int(lo)*inner+from:int(hi)*inner], inner, min(tile, inner-from)) || wrapped
				}
			}
		}
		if wrapped {
			return fmt.Errorf("%w: a sum overflows %v", tensor.ErrDType, t.DType())
		}
		return nil
	})
}
