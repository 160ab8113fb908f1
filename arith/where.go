package arith

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// WhereOptions say how [WhereWith] treats dictionaries whose keys differ. The zero value is the
// default.
type WhereOptions struct {
	// Missing, if not nil, stands for the leaf that one of the dictionaries lacks: a number or
	// bool. By default differing keys are tdict.ErrMissing.
	Missing any
}

// Where returns x where mask is true, and other where it is not:
//
//	mask [M...], x [M... F...] -> [M... F...]
//
// mask is a bool tensor, or, if x is a dictionary, one with the same keys and a mask for each leaf,
// with the leaf's dims, as comparisons make; then Data stays as it is. other is of x's type, a
// tensor that broadcasts to x's shape, or a number or bool. In a dictionary, Data is picked by rows
// if other is a dictionary too, and else stays as it is. The result is a copy with x's dtypes.
//
// Where returns tensor.ErrDType if mask is not bool or dtypes differ, shapeops.ErrShape if the
// shape of x does not begin with that of mask or other does not fit, and tensor.ErrKind for a nil
// operand or one of another type.
func Where[T Elementwise[T]](mask any, x T, other any) (T, error) {
	return WhereWith(mask, x, other, WhereOptions{})
}

// WhereWith is [Where] with options.
func WhereWith[T Elementwise[T]](mask any, x T, other any, opt WhereOptions) (T, error) {
	k, wide, err := whereKernel(mask, x, opt)
	return leafwise("where", k, err, x, wide, other)
}

// WhereInto is [Where] into a value that the caller owns, which must have the dtypes and shapes of
// the result. It may be x or other itself: then elements that stay are not written, if those of dst
// lie in order without gaps. Its errors are those of [Where], and of tensor.Transfer; on an error
// nothing has changed.
func WhereInto[T Elementwise[T]](dst T, mask any, x T, other any) error {
	return WhereIntoWith(dst, mask, x, other, WhereOptions{})
}

// WhereIntoWith is [WhereInto] with options. dst has the keys of both dictionaries.
func WhereIntoWith[T Elementwise[T]](dst T, mask any, x T, other any, opt WhereOptions) error {
	k, wide, err := whereKernel(mask, x, opt)
	return leafwiseInto("where", k, err, dst, x, wide, other)
}

// MaskedFill returns x with value where mask is true:
//
//	x [M... F...], mask [M...] -> [M... F...]
//
// mask is a tensor, or for a dictionary one of masks, as [Where] takes them; value is a number or
// bool, or a tensor that broadcasts to x's shape. Data in a dictionary stays as it is. The result
// is a copy. Its errors are those of [Where].
func MaskedFill[T Elementwise[T]](x T, mask, value any) (T, error) {
	k, wide, err := maskedKernel(fillKernel, mask, x)
	return leafwise("masked fill", k, err, x, wide, value)
}

// MaskedFillInto is [MaskedFill] into a value that the caller owns, which must have the dtypes and
// shapes of x, and may be x: then elements that stay are not written, if those of x lie in order
// without gaps. Its errors are those of [Where], and of tensor.Transfer; on an error nothing has
// changed.
func MaskedFillInto[T Elementwise[T]](dst, x T, mask, value any) error {
	k, wide, err := maskedKernel(fillKernel, mask, x)
	return leafwiseInto("masked fill", k, err, dst, x, wide, value)
}

// FillInPlace sets every element of x to value: a number or bool, or a tensor that broadcasts to
// x's shape. Data stays as it is. Its errors are those of [MaskedFillInto]. (Python: fill_,
// zero_.)
func FillInPlace[T Elementwise[T]](x T, value any) error {
	return MaskedFillInto(x, x, tensor.Scalar(true), value)
}

// lined returns a mask over leading dims of x with dims of size 1 for the others.
func lined[T Elementwise[T]](mask *tensor.Tensor, x T) (*tensor.Tensor, error) {
	var none T
	if x == none {
		return nil, fmt.Errorf("%w: got nil", tensor.ErrKind)
	}
	if err := tensor.Read(mask, func([]bool) {}); err != nil {
		return nil, fmt.Errorf("mask: %w", err)
	}
	if !x.Shape().HasPrefix(mask.Shape()) {
		return nil, fmt.Errorf("mask: %w: got %v, want the leading dims of %v", shapeops.ErrShape, mask.Shape(), x.Shape())
	}
	return extended(mask, len(x.Shape()))
}

// extended returns a tensor with dims of size 1 after its own, so many in all.
func extended(t *tensor.Tensor, dims int) (*tensor.Tensor, error) {
	after := slices.Repeat(shapeops.Shape{1}, dims-len(t.Shape()))
	return t.Reshape(slices.Concat(t.Shape(), after)...)
}

// whereKernel returns a kernel that chooses between x and other, by a mask, and the mask as it
// takes it: its operands are x, mask, other.
func whereKernel[T Elementwise[T]](mask any, x T, opt WhereOptions) (*tensor.Kernel, any, error) {
	k := &tensor.Kernel{
		Op: "where", Others: []string{"mask", "other"}, Check: checkChoice, Missing: opt.Missing,
		Elements: func(b *tensor.Block) error { return choose(b, b.Src[1], b.Src[0], b.Src[2]) },
	}
	if t, ok := mask.(*tensor.Tensor); ok {
		k.Select = func() (*plan.Plan, error) { return planMask(t) }
	}
	return maskedKernel(k, mask, x)
}

// maskedKernel returns a kernel for a mask of x, its second operand, and the mask as it takes it. A
// tensor is checked at once; masks of leaves are when the kernel comes to them.
func maskedKernel[T Elementwise[T]](k *tensor.Kernel, mask any, x T) (*tensor.Kernel, any, error) {
	if t, ok := mask.(*tensor.Tensor); ok {
		wide, err := lined(t, x)
		return k, wide, err
	}
	if err := checkMask(x, mask); err != nil {
		return nil, nil, err
	}
	byLeaf, run := *k, k.Elements
	byLeaf.Fails = always
	byLeaf.Elements = func(b *tensor.Block) error {
		if err := tensor.CheckBools(b.Src[1].Bytes); err != nil {
			return err
		}
		return run(b)
	}
	return &byLeaf, mask, nil
}

// fillKernel sets what a mask chooses to a value: its operands are x, mask, value.
var fillKernel = &tensor.Kernel{
	Op: "masked fill", Others: []string{"mask", "value"}, Check: checkChoice,
	Elements: func(b *tensor.Block) error { return choose(b, b.Src[1], b.Src[2], b.Src[0]) },
}

// checkChoice checks the operands of a choice, the second of which is a mask.
func checkChoice(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
	x, mask, other := xs[0], xs[1], xs[2]
	if mask.DType() != tensor.Bool {
		return 0, nil, fmt.Errorf("mask: %w: got %v, want bool: a comparison makes one", tensor.ErrDType, mask.DType())
	}
	if other.DType() != x.DType() {
		return 0, nil, fmt.Errorf("%w: got %v, want %v", tensor.ErrDType, other.DType(), x.DType())
	}
	return x.DType(), x.Shape(), nil
}

// planMask plans to pick the rows that a mask chooses.
func planMask(mask *tensor.Tensor) (*plan.Plan, error) {
	x, err := mask.AsMask()
	if err != nil {
		return nil, err
	}
	return plan.Index(mask.Shape(), x)
}
