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
// do not stay together: to sort whole rows, see [Lexsort]. Values that are not tensors stay as they
// are.
//
// Sort returns shapeops.ErrDim if x has no such dim, tensor.ErrDType if the dtype of a leaf has no
// order, and tensor.ErrKind if x is nil.
func Sort[T Reducible[T]](x T, dim int, opt SortOptions) (T, error) {
	k, err := sortKernel(x, dim, opt)
	return leafwise("sort", k, err, x)
}

// SortInto is [Sort] into dst, which has the dtypes and shapes of x, and may be x. It also returns
// the errors of tensor.Transfer; on an error nothing has changed.
func SortInto[T Reducible[T]](dst, x T, dim int, opt SortOptions) error {
	k, err := sortKernel(x, dim, opt)
	return leafwiseInto("sort", k, err, dst, x)
}

// ArgSort returns the positions along a dim that sort each line of [Sort]: int64 [... N ...].
// Gather at these positions returns what Sort returns. ArgSort returns the errors of Sort.
func ArgSort[T Reducible[T]](x T, dim int, opt SortOptions) (T, error) {
	k, err := argSortKernel(x, dim, opt)
	return leafwise("arg sort", k, err, x)
}

func sortKernel[T Reducible[T]](x T, dim int, opt SortOptions) (*tensor.Kernel, error) {
	keeps := func(x *tensor.Tensor) tensor.DType { return x.DType() }
	return lineKernel("sort", x, dim, keeps, func(dst, x *tensor.Tensor, dim int) error {
		return sorters.run(dst, x, dim, opt.Descending, dst != x)
	})
}

func argSortKernel[T Reducible[T]](x T, dim int, opt SortOptions) (*tensor.Kernel, error) {
	positions := func(*tensor.Tensor) tensor.DType { return tensor.Int64 }
	return lineKernel("arg sort", x, dim, positions, func(dst, x *tensor.Tensor, dim int) error {
		return argSorters.run(dst, x, dim, opt.Descending, true)
	})
}

// lineKernel returns the kernel of an operation on lines of elements that have an order.
func lineKernel[T Reducible[T]](op string, x T, dim int, makes func(x *tensor.Tensor) tensor.DType,
	run func(dst, x *tensor.Tensor, dim int) error) (*tensor.Kernel, error) {
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
		Check: func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
			return makes(xs[0]), xs[0].Shape(), checkElements(xs[0])
		},
		Whole: func(dst *tensor.Tensor, xs []*tensor.Tensor, _ int) error { return run(dst, xs[0], at) },
	}, nil
}

// checkElements returns tensor.ErrDType if the dtype of t has no order, or if a bool is invalid.
func checkElements(t *tensor.Tensor) error {
	if t.DType() == tensor.Bool && t.Device() != tensor.Meta {
		return tensor.Read(t, func([]bool) {})
	}
	return checkOrder(t)
}
