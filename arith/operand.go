package arith

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// An Elementwise is what verbs work on that look at each element by itself. *tensor.Tensor,
// *ragged.Tensor and *tdict.TensorDict satisfy it, each returning itself. A *memmap.Dataset does
// not, because its methods return a *tdict.TensorDict: Add(ds, 1) does not compile. Pass the
// dictionary in it, as in Add(ds.TensorDict, 1).
type Elementwise[T any] interface {
	comparable
	Shape() shapeops.Shape
	Verbs() tensor.Verbs[T]
}

// A Reducible is an [Elementwise] whose dims each have one size, so that verbs can work along them:
// *tensor.Tensor and *tdict.TensorDict. A *ragged.Tensor does not satisfy it: Sum(r, over) and
// Sort(r, 0, opt) do not compile. It has methods Reduce, CumSum, Sort and ArgSort, and MapValues
// for what works on features.
type Reducible[T any] interface {
	Elementwise[T]
	Permute(dims ...int) (T, error)
}

// leafwise returns what the kernel of an operation makes of x and others, or the error for which
// there is no kernel.
func leafwise[T Elementwise[T]](op string, k *tensor.Kernel, err error, x T, others ...any) (T, error) {
	if err != nil {
		var none T
		return none, fmt.Errorf("%s: %w", op, err)
	}
	return x.Verbs().Leafwise(k, others...)
}

// leafwiseInto is leafwise into dst.
func leafwiseInto[T Elementwise[T]](op string, k *tensor.Kernel, err error, dst, x T, others ...any) error {
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return x.Verbs().LeafwiseInto(dst, k, others...)
}
