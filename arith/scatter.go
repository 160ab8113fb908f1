package arith

import (
	"cmp"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// ScatterAdd returns x with src added at the positions of index along a dim. Where Scatter
// overwrites an element several times, ScatterAdd adds up.
//
//	x [A N B F...], index [A' M B'], src [A' M B' F...]:
//	out[a index[a m b] b] = x[a index[a m b] b] + src[a m b], summed over equal positions
//
// If x is a tensor, index has as many dims as x, and F... is empty. If x is a dictionary, index has
// as many dims as its batch shape, and F... are the feature dims of each leaf. src has the type of
// x; if it is a dictionary, it has the same keys. Float16 and bfloat16 are added in float32.
// Unbatched tensors and Data stay as they are; a ragged leaf is tensor.ErrKind. The result is a
// copy.
//
// ScatterAdd returns
//
//   - shapeops.ErrDim if x has no such dim
//   - shapeops.ErrIndex if a position is out of range
//   - shapeops.ErrShape if index does not have the dims of x, or src does not have the shape of
//     index followed by the features of x
//   - tensor.ErrDType if index does not hold integers, or if x and src differ in dtype or hold
//     bools
//   - tensor.ErrDType if the dtype does not hold a sum of integers; elements are added in the
//     order of index, and unlike in [Sum] the sum after each addition must fit
//   - tensor.ErrKind if an operand is nil
func ScatterAdd[T Reducible[T]](x T, dim int, index *tensor.Tensor, src T) (T, error) {
	k, err := scatterKernel(x, dim, index, src)
	return leafwise("scatter add", k, err, x, src)
}

// ScatterAddInto is [ScatterAdd] into dst, which has the dtypes and shapes of x, and may be x. It
// also returns the errors of tensor.Transfer; on an error nothing has changed.
func ScatterAddInto[T Reducible[T]](dst, x T, dim int, index *tensor.Tensor, src T) error {
	k, err := scatterKernel(x, dim, index, src)
	return leafwiseInto("scatter add", k, err, dst, x, src)
}

func scatterKernel[T Reducible[T]](x T, dim int, index *tensor.Tensor, src T) (*tensor.Kernel, error) {
	var none T
	if x == none {
		return nil, errNilX
	}
	if src == none {
		return nil, fmt.Errorf("src: %w: got nil", tensor.ErrKind)
	}
	p, err := plan.GatherBy(x.Shape(), dim, index)
	if err != nil {
		return nil, err
	}
	return &tensor.Kernel{
		Op: "scatter add", Others: []string{"src"}, Free: true, Fails: always,
		Check: func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
			x, src := xs[0], xs[1]
			switch {
			case x.DType() == tensor.Bool:
				return 0, nil, fmt.Errorf("%w: got bool, want numbers", tensor.ErrDType)
			case src.DType() != x.DType():
				return 0, nil, fmt.Errorf("src: %w: got %v, want %v", tensor.ErrDType, src.DType(), x.DType())
			}
			if err := src.Shape().CheckEqual(p.Extend(x.Shape())); err != nil {
				return 0, nil, fmt.Errorf("src: %w", err)
			}
			return x.DType(), x.Shape(), nil
		},
		Whole: func(dst *tensor.Tensor, xs []*tensor.Tensor, _ int) (err error) {
			x, src := xs[0], xs[1]
			if d := x.DType(); d != tensor.Float16 && d != tensor.BFloat16 {
				return scatterAdd(dst, x, src, p)
			}
			if src, err = src.Cast(tensor.Float32); err != nil {
				return err
			}
			return viaWider(dst, tensor.Float32, func(sum *tensor.Tensor) error { return scatterAdd(sum, x, src, p) })
		},
	}, nil
}

// scatterAdd sets dst, which is contiguous, to x with src added to the rows that plan p picks.
func scatterAdd(dst, x, src *tensor.Tensor, p *plan.Plan) error {
	if err := x.CastInto(dst); err != nil {
		return err
	}
	frame, err := p.Frame(dst.View())
	if err != nil {
		return err
	}
	rows, stride := frame.Rows, frame.Stride
	switch dst.DType() {
	case tensor.Uint8:
		return addRows(dst, src, rows, stride, addIntegers[uint8])
	case tensor.Uint16:
		return addRows(dst, src, rows, stride, addIntegers[uint16])
	case tensor.Uint32:
		return addRows(dst, src, rows, stride, addIntegers[uint32])
	case tensor.Uint64:
		return addRows(dst, src, rows, stride, addIntegers[uint64])
	case tensor.Int8:
		return addRows(dst, src, rows, stride, addIntegers[int8])
	case tensor.Int16:
		return addRows(dst, src, rows, stride, addIntegers[int16])
	case tensor.Int32:
		return addRows(dst, src, rows, stride, addIntegers[int32])
	case tensor.Int64:
		return addRows(dst, src, rows, stride, addIntegers[int64])
	case tensor.Float32:
		return addRows(dst, src, rows, stride, addFloats[float32])
	case tensor.Float64:
		return addRows(dst, src, rows, stride, addFloats[float64])
	case tensor.Complex64:
		return addRows(dst, src, rows, stride, addFloats[complex64])
	}
	return addRows(dst, src, rows, stride, addFloats[complex128])
}

type integers interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64
}

type floats interface {
	float32 | float64 | complex64 | complex128
}

// addRows adds row i of src to the row of sum that begins at element rows[i]*stride, in order. Both
// are contiguous. A sum that wraps around, which add reports, is an error.
func addRows[T integers | floats](sum, src *tensor.Tensor, rows []int, stride int, add func(to, from []T) (wrapped bool)) error {
	wrapped := -1
	var failed error
	err := tensor.Write(sum, func(to []T) {
		failed = tensor.Read(src, func(from []T) {
			width := len(from) / max(1, len(rows))
			for i := 0; i < len(rows) && width > 0; i++ {
				if at := rows[i] * stride; add(to[at:at+width], from[i*width:(i+1)*width]) && wrapped < 0 {
					wrapped = i
				}
			}
		})
	})
	if err = cmp.Or(failed, err); err == nil && wrapped >= 0 {
		err = fmt.Errorf("%w: a sum overflows %v at element %d of index", tensor.ErrDType, sum.DType(), wrapped)
	}
	return err
}

func addIntegers[T integers](to, from []T) (wrapped bool) {
	for i, v := range from {
		was := to[i]
		to[i] += v
		wrapped = wrapped || (to[i] < was) != (v < 0)
	}
	return wrapped
}

func addFloats[T floats](to, from []T) bool {
	for i, v := range from {
		to[i] += v
	}
	return false
}

// always is Kernel.Fails of kernels that may fail for any operands.
func always([]*tensor.Tensor) bool { return true }
