package arith

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// ScatterAdd returns x with src added where an integer tensor says, along a dim: the counterpart of
// Gather that adds up what Scatter would overwrite.
//
//	x [A N B F...], index [A' M B'], src [A' M B' F...]:
//	out[a index[a m b] b] = x[a index[a m b] b] + src[a m b], all of them
//
// index has the dims of x, of a dictionary its batch dims; src is of x's type and has the keys of
// x. Float16 and bfloat16 add up in float32. Data and unbatched tensors stay as they are. The
// result is a copy.
//
// ScatterAdd returns shapeops.ErrDim, shapeops.ErrIndex, shapeops.ErrShape unless src has the
// shape of index with the features of x, tensor.ErrDType for dtypes that differ, for bool, and for
// a sum of integers that, added up in the order of index, leaves what the dtype holds, and
// tensor.ErrKind for a nil operand.
func ScatterAdd[T Reducible[T]](x T, dim int, index *tensor.Tensor, src T) (T, error) {
	k, err := scatterKernel(x, dim, index, src)
	return leafwise("scatter add", k, err, x, src)
}

// ScatterAddInto is [ScatterAdd] into a value that the caller owns, which must have the dtypes and
// shapes of x, and may be x. Its errors are also those of tensor.Transfer; on an error nothing has
// changed.
func ScatterAddInto[T Reducible[T]](dst, x T, dim int, index *tensor.Tensor, src T) error {
	k, err := scatterKernel(x, dim, index, src)
	return leafwiseInto("scatter add", k, err, dst, x, src)
}

func scatterKernel[T Reducible[T]](x T, dim int, index *tensor.Tensor, src T) (*tensor.Kernel, error) {
	var none T
	if x == none || src == none {
		return nil, fmt.Errorf("%w: got nil", tensor.ErrKind)
	}
	p, err := plan.GatherBy(x.Shape(), dim, index)
	if err != nil {
		return nil, err
	}
	return &tensor.Kernel{
		Op: "scatter add", Others: []string{"what is added"}, Free: true, Fails: always,
		Check: func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) { return checkScatter(p, xs) },
		Whole: func(dst *tensor.Tensor, xs []*tensor.Tensor, _ int) error { return scatterAdd(dst, xs[0], xs[1], p) },
	}, nil
}

func checkScatter(p *plan.Plan, xs []*tensor.Tensor) (tensor.DType, shapeops.Shape, error) {
	x, src := xs[0], xs[1]
	switch {
	case x.DType() == tensor.Bool:
		return 0, nil, fmt.Errorf("%w: got bool, want numbers to add", tensor.ErrDType)
	case src.DType() != x.DType():
		return 0, nil, fmt.Errorf("%w: got %v to add, want %v", tensor.ErrDType, src.DType(), x.DType())
	}
	if err := src.Shape().CheckEqual(p.Extend(x.Shape())); err != nil {
		return 0, nil, fmt.Errorf("what is added: %w", err)
	}
	return x.DType(), x.Shape(), nil
}

// scatterAdd sets dst, which is contiguous, to x with src added to the rows that a plan picks.
func scatterAdd(dst, x, src *tensor.Tensor, p *plan.Plan) error {
	if d := x.DType(); d == tensor.Float16 || d == tensor.BFloat16 {
		return scatterWide(dst, x, src, p)
	}
	if err := dst.CopyFrom(x); err != nil {
		return err
	}
	frame, err := p.Frame(dst.View())
	if err != nil {
		return err
	}
	return addRows(dst, src, frame.Rows, frame.Stride)
}

// scatterWide is scatterAdd of floating-point numbers of 16 bits, which adds up in 32.
func scatterWide(dst, x, src *tensor.Tensor, p *plan.Plan) error {
	wide, err := x.Cast(tensor.Float32)
	if err != nil {
		return err
	}
	if src, err = src.Cast(tensor.Float32); err != nil {
		return err
	}
	return viaWider(dst, tensor.Float32, func(sum *tensor.Tensor) error { return scatterAdd(sum, wide, src, p) })
}

// addRows adds the rows of src, in order, to those of sum that are listed, each so many elements
// from the next. Both are contiguous.
func addRows(sum, src *tensor.Tensor, rows []int, stride int) error {
	switch sum.DType() {
	case tensor.Uint8:
		return addIntegers[uint8](sum, src, rows, stride)
	case tensor.Uint16:
		return addIntegers[uint16](sum, src, rows, stride)
	case tensor.Uint32:
		return addIntegers[uint32](sum, src, rows, stride)
	case tensor.Uint64:
		return addIntegers[uint64](sum, src, rows, stride)
	case tensor.Int8:
		return addIntegers[int8](sum, src, rows, stride)
	case tensor.Int16:
		return addIntegers[int16](sum, src, rows, stride)
	case tensor.Int32:
		return addIntegers[int32](sum, src, rows, stride)
	case tensor.Int64:
		return addIntegers[int64](sum, src, rows, stride)
	case tensor.Float32:
		return addFloats[float32](sum, src, rows, stride)
	case tensor.Float64:
		return addFloats[float64](sum, src, rows, stride)
	case tensor.Complex64:
		return addFloats[complex64](sum, src, rows, stride)
	}
	return addFloats[complex128](sum, src, rows, stride)
}

type integers interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64
}

type floats interface {
	float32 | float64 | complex64 | complex128
}

// addIntegers is addRows of integers. A sum that wraps around is an error.
func addIntegers[T integers](sum, src *tensor.Tensor, rows []int, stride int) error {
	wrapped := -1
	err := eachRow(sum, src, rows, stride, func(row int, to, from []T) {
		for i, v := range from {
			was := to[i]
			to[i] += v
			if (to[i] < was) != (v < 0) && wrapped < 0 {
				wrapped = row
			}
		}
	})
	if err == nil && wrapped >= 0 {
		err = fmt.Errorf("%w: a sum is more than %v holds, at element %d of the index", tensor.ErrDType, sum.DType(), wrapped)
	}
	return err
}

func addFloats[T floats](sum, src *tensor.Tensor, rows []int, stride int) error {
	return eachRow(sum, src, rows, stride, func(_ int, to, from []T) {
		for i, v := range from {
			to[i] += v
		}
	})
}

// eachRow calls fn with each row of src and the one of sum that it belongs to.
func eachRow[T integers | floats](sum, src *tensor.Tensor, rows []int, stride int, fn func(row int, to, from []T)) error {
	var failed error
	err := tensor.Write(sum, func(to []T) {
		failed = tensor.Read(src, func(from []T) {
			width := len(from) / max(1, len(rows))
			if width == 0 {
				return
			}
			for i, row := range rows {
				fn(i, to[row*stride:row*stride+width], from[i*width:(i+1)*width])
			}
		})
	})
	if failed != nil {
		return failed
	}
	return err
}

// always says that a kernel may fail for any operands.
func always([]*tensor.Tensor) bool { return true }
