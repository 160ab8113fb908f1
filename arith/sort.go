package arith

import (
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// SortOptions are the options of [Sort] and [ArgSort]. The zero value is the default.
type SortOptions struct {
	// Descending puts the largest first. NaN still comes last, and equal elements keep their order.
	Descending bool
}

// Sort returns x with its elements sorted along a dim. It sorts each line separately, a line being
// the elements that differ only in their position along dim:
//
//	[... N ...] -> [... N ...]
//
// The sort is stable. The result is a copy.
//
// The dim of a dictionary is a batch dim. Each feature of each leaf is sorted separately, so rows
// do not stay together: to sort whole rows, see [Lexsort]. Unbatched tensors and Data stay as
// they are; a ragged leaf is tensor.ErrKind.
//
// Sort returns shapeops.ErrDim if x has no such dim, tensor.ErrDType if the dtype of a leaf has no
// order, and tensor.ErrKind if x is nil.
func Sort[T Reducible[T]](x T, dim int, opt SortOptions) (T, error) {
	k, err := sortKernel("sort", &sorters, x, dim, opt)
	return leafwise("sort", k, err, x)
}

// SortInto is [Sort] into dst, which has the dtypes and shapes of x, and may be x. It also returns
// the errors of tensor.Transfer; on an error nothing has changed.
func SortInto[T Reducible[T]](dst, x T, dim int, opt SortOptions) error {
	k, err := sortKernel("sort", &sorters, x, dim, opt)
	return leafwiseInto("sort", k, err, dst, x)
}

// ArgSort returns the positions along a dim that sort each line of [Sort]: int64 [... N ...].
// Gather at these positions returns what Sort returns. ArgSort returns the errors of Sort.
func ArgSort[T Reducible[T]](x T, dim int, opt SortOptions) (T, error) {
	k, err := sortKernel("arg sort", &argSorters, x, dim, opt)
	return leafwise("arg sort", k, err, x)
}

// sortKernel returns the kernel of Sort, or of ArgSort, which sets each line of the result from the
// same line of x: [... N ...] -> [... N ...]. On an error the result has not changed.
func sortKernel[T Reducible[T]](op string, verbs *byWidth, x T, dim int, opt SortOptions) (*tensor.Kernel, error) {
	var none T
	if x == none {
		return nil, errNilX
	}
	at, err := x.Shape().Dim(dim)
	if err != nil {
		return nil, err
	}
	return &tensor.Kernel{
		Op: op,
		Check: func(xs []*tensor.Tensor, _ int) (d tensor.DType, s shapeops.Shape, err error) {
			if d, s = tensor.Int64, xs[0].Shape(); verbs == &sorters {
				d = xs[0].DType()
			}
			if xs[0].DType() == tensor.Bool && xs[0].Device() != tensor.Meta {
				return d, s, tensor.Read(xs[0], func([]bool) {})
			}
			return d, s, checkOrder(xs[0])
		},
		Whole: func(dst *tensor.Tensor, xs []*tensor.Tensor, _ int) (err error) {
			src, verb := xs[0], verbs[xs[0].DType().Size()]
			// Only the goroutine that borrowed lent memory may use it.
			if src.Lender() != nil || (dst != src || verbs == &argSorters) && dst.SharesMemory(src) {
				if src, err = src.Clone(); err != nil {
					return err
				}
			}
			if dst.Lender() == nil {
				return verb(dst, src, at, opt.Descending)
			}
			return viaWider(dst, dst.DType(), func(out *tensor.Tensor) error { return verb(out, src, at, opt.Descending) })
		},
	}, nil
}
