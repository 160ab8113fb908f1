package shapeops

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
)

// PadSequenceOptions are options of [PadSequence]. The zero value is the default.
type PadSequenceOptions struct {
	// Fill is the value of padding: a number or a bool that each dtype must hold. Nil is zero.
	Fill any
	// Dim is the dim along which the values differ in length. In a dictionary it is a batch dim, or
	// a dim after the batch shape of each leaf; a negative dim counts from the last dim of each
	// leaf.
	Dim int
	// Left puts the padding before each sequence; by default it comes after it.
	Left bool
	// Length is the length of the padded dim; 0 means the longest of the values.
	Length int
}

// A Dense value has one size for each dim, also after the batch shape: *tensor.Tensor and
// *tdict.TensorDict.
type Dense[T any] interface {
	Value[T]
	Permute(dims ...int) (T, error)
}

// PadSequence stacks values that differ in length along one dim, each padded to the longest:
//
//	[A Ni B], i = 1..N -> [N A max(Ni) B]
//
// If dim is a batch dim of dictionaries, the batch shape is padded. If it comes after the batch
// shape, each leaf is padded to the longest among its own values, so leaves may differ in length.
// Data is padded with nil. The result is a copy.
//
// PadSequence returns [ErrKind] if a value is nil, [ErrShape] if xs is empty, if other dims differ
// or if a value is longer than opt.Length, [ErrDim] if a leaf has no such dim, and errors of the
// values about their contents, for example if the keys of dictionaries differ.
func PadSequence[T Value[T]](xs []T, opt PadSequenceOptions) (T, error) {
	var none T
	p, err := planPadded(xs, opt)
	if err != nil {
		return none, errtext.Named(padOp, err)
	}
	out, err := xs[0].Ops().Join(p, xs)
	return out, errtext.Named(padOp, err)
}

// PadSequenceInto is [PadSequence] into dst, which has the shape of the result. dst may share
// memory with the operands: PadSequenceInto returns tensor.ErrOverlap if more than 64 MiB would
// have to be copied first. On an error nothing has changed.
func PadSequenceInto[T Value[T]](dst T, xs []T, opt PadSequenceOptions) error {
	var none T
	p, err := planPadded(xs, opt)
	if err == nil && dst == none {
		err = fmt.Errorf("%w: got no destination", ErrKind)
	}
	if err != nil {
		return errtext.Named(padOp, err)
	}
	return errtext.Named(padOp, xs[0].Ops().JoinInto(p, dst, xs))
}

// PadSequenceMasked is [PadSequence] that also returns masks, true where the result is not padding.
// For tensors it is one bool tensor; for dictionaries it is a dictionary with the batch shape of
// the result and a mask under the key of each tensor, ragged tensor and stack: bool, dense.
//
//	a tensor                          [N max(Ni)]
//	a leaf, the dim in batch shape B  [N B...]
//	a leaf, the dim after it          [N B... max(Ni)]
//
// In the second case all leaves share one mask.
func PadSequenceMasked[T Dense[T]](xs []T, opt PadSequenceOptions) (out, masks T, err error) {
	var none T
	p, err := planPadded(xs, opt)
	if err != nil {
		return none, none, errtext.Named(padOp, err)
	}
	if out, err = xs[0].Ops().Join(p, xs); err != nil {
		return none, none, errtext.Named(padOp, err)
	}
	if masks, err = xs[0].Ops().(plan.DenseOps[T]).JoinMasks(&plan.Pass{Join: p.Join}, xs); err != nil {
		return none, none, errtext.Named(padOp, err)
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
	return &plan.Pass{Join: j, Fill: opt.Fill}, nil
}
