package arith

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Elementwise is the constraint of operations on each element by itself. *tensor.Tensor,
// *ragged.Tensor and *tdict.TensorDict satisfy it, each returning its own type. A *memmap.Dataset
// does not, because its methods return a *tdict.TensorDict: Add(ds, 1) does not compile. Pass its
// dictionary, as in Add(ds.TensorDict, 1).
type Elementwise[T any] = shapeops.Value[T]

// Reducible is the constraint of operations along dims: an [Elementwise] that is not ragged.
// *tensor.Tensor and *tdict.TensorDict satisfy it. A *ragged.Tensor does not: Sum(r, over) and
// Sort(r, 0, opt) do not compile. Call its methods Reduce, CumSum, Sort and ArgSort instead, and
// MapValues for an operation on features.
type Reducible[T any] = shapeops.Dense[T]

// errNilX is the error of an operation whose first operand is nil.
var errNilX = fmt.Errorf("x: %w: got nil", tensor.ErrKind)

// leafwise applies a kernel to x and others. If err is not nil, it returns err with the name of the
// operation.
func leafwise[T Elementwise[T]](op string, k *tensor.Kernel, err error, x T, others ...any) (T, error) {
	if err != nil {
		var none T
		return none, fmt.Errorf("%s: %w", op, err)
	}
	return x.Ops().Leafwise(k, others...)
}

// leafwiseInto is leafwise into dst.
func leafwiseInto[T Elementwise[T]](op string, k *tensor.Kernel, err error, dst, x T, others ...any) error {
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return x.Ops().LeafwiseInto(dst, k, others...)
}
