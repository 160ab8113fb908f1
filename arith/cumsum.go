package arith

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// CumSum returns running sums of x, over exactly one dim, or over [BySplits], in each group of
// which they start again:
//
//	x [A N B], Dims(1): out[a n b] = x[a 0 b] + ... + x[a n b] -> [A N B]
//
// Elements that do not count add nothing: where they are, the sum is that of those before. Data in
// a dictionary, batch shapes and names of dims stay. Keep says nothing.
//
// The dtypes are those of [Sum]. Floating-point and complex numbers are added one after the other,
// from 0 on, float16 and bfloat16 in float32, each result rounded: the last is not always, bit for
// bit, what Sum returns.
//
// CumSum returns the errors of the Over, shapeops.ErrDim for another number of dims,
// tensor.ErrDType for a sum of integers that the dtype does not hold, and tensor.ErrKind if x is
// nil. The result shares no memory with x. (Python: cumsum.)
func CumSum[T Reducible[T]](x T, over Over) (T, error) {
	k, others, err := runningKernel(x, over)
	return leafwise("cum sum", k, err, x, others...)
}

// CumSumInto is [CumSum] into a value that the caller owns, which must have the dtypes and shapes
// of the result, and may be x where dtypes stay. Its errors are also those of tensor.Transfer; on
// an error nothing has changed.
func CumSumInto[T Reducible[T]](dst, x T, over Over) error {
	k, others, err := runningKernel(x, over)
	return leafwiseInto("cum sum", k, err, dst, x, others...)
}

func runningKernel[T Reducible[T]](x T, over Over) (*tensor.Kernel, []any, error) {
	s, others, err := scopeOf(x, over)
	if err == nil && len(s.dims) != 1 {
		err = fmt.Errorf("%w: got no dim or several, want exactly one, or groups of rows", shapeops.ErrDim)
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

// cumSum sets dst, which is contiguous, to the running sums of xs[0], by a mask if there is one.
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

// runningAs turns the elements of a tensor, which is contiguous, into running sums.
func runningAs(t *tensor.Tensor, s *scope) error {
	dim, shape := s.dims[0], t.Shape()
	r := running{shape[:dim].Size(), shape[dim], shape[dim+1:].Size(), s.splits}
	if r.splits == nil {
		r.splits = []int64{0, int64(r.n)}
	}
	switch t.DType() {
	case tensor.Float32:
		return runAll(t, r, lineOf[float32], addTo[float32])
	case tensor.Float64:
		return runAll(t, r, lineOf[float64], addTo[float64])
	case tensor.Complex64:
		return runAll(t, r, lineOf[complex64], addTo[complex64])
	case tensor.Complex128:
		return runAll(t, r, lineOf[complex128], addTo[complex128])
	case tensor.Uint64:
		return runAll(t, r, wholeLineOf[uint64], addWholeTo[uint64])
	}
	return runAll(t, r, wholeLineOf[int64], addWholeTo[int64])
}

// lineOf makes running sums of a line.
func lineOf[T floats](s []T) (wrapped bool) {
	var sum T
	for i, v := range s {
		sum += v
		s[i] = sum
	}
	return false
}

// addTo adds to a row the sums before it.
func addTo[T floats](row, before []T) (wrapped bool) {
	for i, v := range before[:len(row)] {
		row[i] += v
	}
	return false
}

// wholeLineOf is lineOf of integers, and reports whether a sum wraps.
func wholeLineOf[T int64 | uint64](s []T) (wrapped bool) {
	var sum T
	for i, v := range s {
		was := sum
		sum += v
		wrapped = wrapped || (sum < was) != (v < 0)
		s[i] = sum
	}
	return wrapped
}

// addWholeTo is addTo of integers, and reports whether a sum wraps.
func addWholeTo[T int64 | uint64](row, before []T) (wrapped bool) {
	for i, v := range before[:len(row)] {
		was := row[i]
		row[i] += v
		wrapped = wrapped || (row[i] < was) != (v < 0)
	}
	return wrapped
}

// A running says which lines have running sums: those of [outer n inner], of which n falls into
// groups.
type running struct {
	outer, n, inner int
	splits          []int64
}

// runAll makes running sums of all lines, by a function for lines and one for rows of them, which
// report whether a sum wraps: that is tensor.ErrDType.
func runAll[T element](t *tensor.Tensor, r running, line func(s []T) bool, row func(row, before []T) bool) error {
	tile := max(16, min(2048, (r.inner+1)/2))
	tiles := (r.inner + tile - 1) / tile
	units := r.outer * tiles
	cores := min(units, workers.Count(0, t.Size()/fewWork+1))
	return writeAll(t, func(s []T) error {
		return workers.Do(context.Background(), cores, cores, func(core int) error {
			w := sumRunner[T]{running: r, s: s, line: line, row: row, zeros: make([]T, min(tile, r.inner))}
			for u := units * core / cores; u < units*(core+1)/cores; u++ {
				w.unit(u/tiles, u%tiles*tile)
			}
			if w.wrapped {
				return fmt.Errorf("%w: a sum is more than %v holds", tensor.ErrDType, t.DType())
			}
			return nil
		})
	})
}

// A sumRunner is what one core does of a running.
type sumRunner[T element] struct {
	running
	s       []T
	line    func(s []T) bool
	row     func(row, before []T) bool
	zeros   []T // what is before the first row: 0 and -0 is 0
	wrapped bool
}

// unit makes running sums of the lines from a column on that are done at once.
func (w *sumRunner[T]) unit(o, from int) {
	s := w.s[o*w.n*w.inner+from : (o+1)*w.n*w.inner]
	for g := range len(w.splits) - 1 {
		lo, hi := int(w.splits[g]), int(w.splits[g+1])
		if w.inner == 1 {
			w.wrapped = w.line(s[lo:hi]) || w.wrapped
			continue
		}
		width := min(len(w.zeros), w.inner-from)
		before := w.zeros[:width]
		for ; lo < hi; lo++ {
			next := s[lo*w.inner:][:width]
			w.wrapped = w.row(next, before) || w.wrapped
			before = next
		}
	}
}
