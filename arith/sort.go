package arith

import (
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// SortOptions say how [Sort] and [Argsort] order elements. The zero value is the default.
type SortOptions struct {
	// Descending puts the largest first. NaN still comes last, and equal elements keep their order.
	Descending bool
}

// Sort returns x with the elements of each line along a dim in order: [... N ...] -> [... N ...].
// In a dictionary the dim is one of the batch shape, and each leaf is sorted by itself, each of its
// features too, so that rows fall apart, and Data stays as it is; to sort rows as wholes, see
// [Lexsort]. The result is a copy. Sort is stable.
//
// It returns shapeops.ErrDim if x has no such dim, tensor.ErrDType if elements have no order, and
// tensor.ErrKind if x is nil.
func Sort[T Operand[T]](x T, dim int, opt SortOptions) (T, error) {
	k, err := sortKernel(x, dim, opt)
	if err != nil {
		var none T
		return none, err
	}
	return x.Verbs().Leafwise(k)
}

// SortInto is [Sort] into a value that the caller owns, which must have the dtypes and shapes of x,
// and may be x. Its errors are also those of tensor.Transfer; on an error nothing has changed.
func SortInto[T Operand[T]](dst, x T, dim int, opt SortOptions) error {
	k, err := sortKernel(x, dim, opt)
	if err != nil {
		return err
	}
	return x.Verbs().LeafwiseInto(dst, k)
}

// SortInPlace is [Sort] of x itself.
func SortInPlace[T Operand[T]](x T, dim int, opt SortOptions) error { return SortInto(x, x, dim, opt) }

// Argsort returns where along a dim the elements of each line are that [Sort] would put in order:
// int64 [... N ...]. What Gather takes there is sorted. Its errors are those of Sort.
func Argsort[T Operand[T]](x T, dim int, opt SortOptions) (T, error) {
	k, err := argsortKernel(x, dim, opt)
	if err != nil {
		var none T
		return none, err
	}
	return x.Verbs().Leafwise(k)
}

// ArgsortInto is [Argsort] into a value that the caller owns, of dtype int64. Its errors are also
// those of tensor.Transfer; on an error nothing has changed.
func ArgsortInto[T Operand[T]](dst, x T, dim int, opt SortOptions) error {
	k, err := argsortKernel(x, dim, opt)
	if err != nil {
		return err
	}
	return x.Verbs().LeafwiseInto(dst, k)
}

func sortKernel[T Operand[T]](x T, dim int, opt SortOptions) (*tensor.Kernel, error) {
	at, err := dimOf("sort", x, dim)
	if err != nil {
		return nil, err
	}
	return &tensor.Kernel{
		Op: "sort",
		Check: func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
			return xs[0].DType(), xs[0].Shape(), checkElements(xs[0])
		},
		Whole: func(dst *tensor.Tensor, xs []*tensor.Tensor, _ int) error {
			return sortInto(dst, xs[0], at, opt.Descending)
		},
	}, nil
}

func argsortKernel[T Operand[T]](x T, dim int, opt SortOptions) (*tensor.Kernel, error) {
	at, err := dimOf("argsort", x, dim)
	if err != nil {
		return nil, err
	}
	return &tensor.Kernel{
		Op: "argsort",
		Check: func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
			return tensor.Int64, xs[0].Shape(), checkElements(xs[0])
		},
		Whole: func(dst *tensor.Tensor, xs []*tensor.Tensor, _ int) error {
			return argsortInto(dst, xs[0], at, opt.Descending)
		},
	}, nil
}

// checkElements returns tensor.ErrDType unless the elements of t have an order: a bool from a file
// may be none.
func checkElements(t *tensor.Tensor) error {
	if t.DType() == tensor.Bool && t.Device() != tensor.Meta {
		return tensor.Read(t, func([]bool) {})
	}
	return checkOrder(t)
}
