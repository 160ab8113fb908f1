package arith

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// WhereOptions are the options of [Where] and [WhereInto]. The zero value is the default.
type WhereOptions struct {
	// Missing, if not nil, is a number or bool that replaces a leaf which one of the dictionaries
	// lacks. By default, differing keys are tdict.ErrMissing.
	Missing any
}

// Where returns x where mask is true, and other where mask is false:
//
//	mask [M...], x [M... F...] -> [M... F...]
//
// mask is a bool tensor. If x is a dictionary, mask may also be a dictionary with the same keys,
// such as [Greater] returns, in which each leaf is a mask with as many dims as the leaf of x. other
// has the type of x, or is a number or bool, or a tensor that broadcasts to the shape of x. If x is
// a dictionary, that is its batch shape, and each element of the tensor applies to all features of
// its row. If x and other are dictionaries and mask is a tensor, other has the shapes of x. The
// result is a copy with x's dtypes. Values of x that are not tensors are chosen by rows if other is
// a dictionary and mask is a tensor; otherwise they stay as they are.
//
// Where returns tensor.ErrDType if mask is not bool or dtypes differ, shapeops.ErrShape if x's
// shape does not begin with mask's shape or other does not fit, and tensor.ErrKind for a nil
// operand, an operand of another type, or more than one opt.
func Where[T Elementwise[T]](mask any, x T, other any, opt ...WhereOptions) (T, error) {
	k, wide, err := whereKernel(mask, x, opt)
	return leafwise("where", k, err, x, wide, other)
}

// WhereInto is [Where] into dst, which has the dtypes and shapes of the result. dst may be x or
// other itself; then elements that stay are not written, if dst is contiguous. It returns the
// errors of [Where] and of tensor.Transfer; on an error nothing has changed. With Missing of opt,
// dst must have each key that x or other has.
func WhereInto[T Elementwise[T]](dst T, mask any, x T, other any, opt ...WhereOptions) error {
	k, wide, err := whereKernel(mask, x, opt)
	return leafwiseInto("where", k, err, dst, x, wide, other)
}

// MaskedFill returns x with value where mask is true:
//
//	x [M... F...], mask [M...] -> [M... F...]
//
// mask is a bool tensor; if x is a dictionary, it may also be a dictionary of masks, as for
// [Where]. value is a number or bool, or a tensor, which must broadcast as other of [Where] does.
// Values that are not tensors stay as they are. The result is a copy. MaskedFill returns the errors
// of [Where].
func MaskedFill[T Elementwise[T]](x T, mask, value any) (T, error) {
	k, wide, err := maskedKernel(maskedFillKernel, mask, x)
	return leafwise("masked fill", k, err, x, wide, value)
}

// MaskedFillInto is [MaskedFill] into dst, which has the dtypes and shapes of x. dst may be x; then
// elements that stay are not written, if x is contiguous. It returns the errors of [Where] and of
// tensor.Transfer; on an error nothing has changed.
func MaskedFillInto[T Elementwise[T]](dst, x T, mask, value any) error {
	k, wide, err := maskedKernel(maskedFillKernel, mask, x)
	return leafwiseInto("masked fill", k, err, dst, x, wide, value)
}

// FillInPlace sets every element of x to value: a number or bool, or a tensor, which must broadcast
// as other of [Where] does. Values that are not tensors stay as they are. It returns the errors of
// [MaskedFillInto]. (Python: fill_, zero_.)
func FillInPlace[T Elementwise[T]](x T, value any) error {
	k, wide, err := maskedKernel(fillKernel, tensor.Scalar(true), x)
	return leafwiseInto("fill", k, err, x, x, wide, value)
}

// alignMask returns a mask over leading dims of x with dims of size 1 appended, so that it
// broadcasts to x.
func alignMask[T Elementwise[T]](mask *tensor.Tensor, x T) (*tensor.Tensor, error) {
	var none T
	if x == none {
		return nil, errNilX
	}
	if err := tensor.Read(mask, func([]bool) {}); err != nil {
		return nil, fmt.Errorf("mask: %w", err)
	}
	if !x.Shape().HasPrefix(mask.Shape()) {
		return nil, fmt.Errorf("mask: %w: got %v, want the leading dims of %v", shapeops.ErrShape, mask.Shape(), x.Shape())
	}
	return extended(mask, len(x.Shape()))
}

// extended appends dims of size 1 to t, until it has dims dims.
func extended(t *tensor.Tensor, dims int) (*tensor.Tensor, error) {
	after := slices.Repeat(shapeops.Shape{1}, dims-len(t.Shape()))
	return t.Reshape(slices.Concat(t.Shape(), after)...)
}

// whereKernel returns the kernel of Where, whose operands are x, mask and other. It also returns
// the mask in the form that the kernel takes.
func whereKernel[T Elementwise[T]](mask any, x T, opt []WhereOptions) (*tensor.Kernel, any, error) {
	k := &tensor.Kernel{
		Op: "where", Others: []string{"mask", "other"}, Check: checkChoice,
		Elements: func(b *tensor.Block) error { return choose(b, b.Src[1], b.Src[0], b.Src[2]) },
	}
	switch len(opt) {
	case 0:
	case 1:
		k.Missing = opt[0].Missing
	default:
		return nil, nil, fmt.Errorf("%w: got %d WhereOptions, want at most one", tensor.ErrKind, len(opt))
	}
	if t, ok := mask.(*tensor.Tensor); ok {
		k.Select = func() (*plan.Plan, error) { // the rows where mask is true
			x, err := t.AsMask()
			if err != nil {
				return nil, err
			}
			return plan.Index(t.Shape(), x)
		}
	}
	return maskedKernel(k, mask, x)
}

// maskedKernel returns the kernel k for a mask, its second operand, and the mask in the form that
// it takes. A tensor is checked at once; masks of leaves are checked when the kernel runs on them.
func maskedKernel[T Elementwise[T]](k *tensor.Kernel, mask any, x T) (*tensor.Kernel, any, error) {
	if t, ok := mask.(*tensor.Tensor); ok {
		wide, err := alignMask(t, x)
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

// maskedFillKernel and fillKernel are the kernels of MaskedFill and FillInPlace. Their operands are
// x, mask and value.
var maskedFillKernel, fillKernel = filling("masked fill"), filling("fill")

func filling(op string) *tensor.Kernel {
	return &tensor.Kernel{
		Op: op, Others: []string{"mask", "value"}, Check: checkChoice,
		Elements: func(b *tensor.Block) error { return choose(b, b.Src[1], b.Src[2], b.Src[0]) },
	}
}

// checkChoice checks operands of which the second is a mask.
func checkChoice(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
	x, mask, other := xs[0], xs[1], xs[2]
	if mask.DType() != tensor.Bool {
		return 0, nil, fmt.Errorf("mask: %w: got %v, want bool, as comparisons return", tensor.ErrDType, mask.DType())
	}
	if other.DType() != x.DType() {
		return 0, nil, fmt.Errorf("other: %w: got %v, want %v", tensor.ErrDType, other.DType(), x.DType())
	}
	return x.DType(), x.Shape(), nil
}
