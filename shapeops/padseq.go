package shapeops

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
)

// PadSequenceOptions say how [PadSequence] pads. The zero value is the default.
type PadSequenceOptions struct {
	// Value is what is padded with: a number or a bool, which each dtype must hold. Nil is zero.
	Value any
	// Values are what some tensors of dictionaries are padded with instead, by key. Each must be
	// there.
	Values map[nestedkey.Key]any
	// Dim is the dim along which the values differ. In a dictionary it is one of the batch shape,
	// or one after it, of each leaf; a negative one counts from the last dim of each leaf.
	Dim int
	// Left puts the padding before each sequence. By default it comes after it.
	Left bool
	// Length, if not 0, is how long the padded dim becomes; by default as long as the longest.
	Length int
}

// A Dense value has one size for each dim, after the batch shape too: *tensor.Tensor and
// *tdict.TensorDict.
type Dense[T any] interface {
	Value[T]
	Permute(dims ...int) (T, error)
}

// PadSequence stacks values that differ in length along one dim, each padded to the longest:
//
//	[A Ni B], i = 1..N -> [N A max(Ni) B]
//
// If the dim lies in the batch shape of dictionaries, the batch shape is padded. If it lies after
// it, each leaf is padded to the longest of its own, so that the leaves of one dictionary need not
// be of one length. Data is padded with nil. The result is a copy.
//
// PadSequence returns [ErrKind] if a value is nil, [ErrShape] if there is no value, if values
// differ elsewhere or if one is longer than opt.Length, [ErrDim] if a leaf has no such dim, and
// what the values say about their contents: of dictionaries whose keys differ, that they do.
func PadSequence[T Value[T]](xs []T, opt PadSequenceOptions) (T, error) {
	var none T
	p, err := planPadded(xs, opt)
	if err != nil {
		return none, named(padOp, err)
	}
	out, err := xs[0].Plan().Join(p, xs)
	return out, named(padOp, err)
}

// PadSequenceInto is [PadSequence] into a value that the caller owns, which must have the shape of
// the result. It may share memory with the operands: the result is that of a copy, or
// tensor.ErrOverlap if more than 64 MiB would have to be copied first. On an error nothing has
// changed.
func PadSequenceInto[T Value[T]](dst T, xs []T, opt PadSequenceOptions) error {
	var none T
	p, err := planPadded(xs, opt)
	if err == nil && dst == none {
		err = fmt.Errorf("%w: got no destination", ErrKind)
	}
	if err != nil {
		return named(padOp, err)
	}
	return named(padOp, xs[0].Plan().JoinInto(p, dst, xs))
}

// PadSequenceMasked is [PadSequence] that also says where the result is not padded: a bool tensor,
// or for dictionaries one under the key of each tensor, in dictionaries with the batch shape of the
// outer one.
//
//	a tensor                          [N max(Ni)]
//	a leaf, the dim in batch shape B  [N B...]
//	a leaf, the dim after it          [N B... max(Ni)]
//
// In the second case all leaves have one mask, which they share.
func PadSequenceMasked[T Dense[T]](xs []T, opt PadSequenceOptions) (out, masks T, err error) {
	var none T
	p, err := planPadded(xs, opt)
	if err != nil {
		return none, none, named(padOp, err)
	}
	if out, err = xs[0].Plan().Join(p, xs); err != nil {
		return none, none, named(padOp, err)
	}
	if masks, err = denseVerbs(xs[0]).JoinMasks(&plan.Pass{Join: p.Join}, xs); err != nil {
		return none, none, named(padOp, err)
	}
	return out, masks, nil
}

const padOp = "pad sequence"

func planPadded[T Value[T]](xs []T, opt PadSequenceOptions) (*plan.Pass, error) {
	if err := checkValues(xs); err != nil {
		return nil, err
	}
	shapeOf := func(i int) Shape { return xs[i].Shape() }
	j, err := plan.Padded(len(xs), shapeOf, plan.Padding{Dim: opt.Dim, Left: opt.Left, Length: opt.Length})
	if err != nil {
		return nil, err
	}
	return &plan.Pass{Join: j, Fill: opt.Value, Fills: opt.Values}, nil
}
