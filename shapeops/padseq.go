package shapeops

import (
	"fmt"

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

// A Padder is what [PadSequenceMasked] needs of a value. *tensor.Tensor and *tdict.TensorDict
// satisfy it.
type Padder[T any] interface {
	Joiner[T]

	// JoinMasks returns, for values joined as p.Join says, where the result holds an element of
	// them: true there, false where it is padded. The receiver is xs[0].
	JoinMasks(p *Pass, xs []T) (T, error)
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
func PadSequence[T Joiner[T]](xs []T, opt PadSequenceOptions) (T, error) {
	var none T
	p, err := planPadded(xs, opt)
	if err != nil {
		return none, named(padOp, err)
	}
	out, err := xs[0].Join(p, xs)
	return out, named(padOp, err)
}

// PadSequenceInto is [PadSequence] into a value that the caller owns, which must have the shape of
// the result and share no memory with xs. On an error nothing has changed.
func PadSequenceInto[T IntoJoiner[T]](dst T, xs []T, opt PadSequenceOptions) error {
	var none T
	p, err := planPadded(xs, opt)
	if err == nil && dst == none {
		err = fmt.Errorf("%w: got no destination", ErrKind)
	}
	if err != nil {
		return named(padOp, err)
	}
	return named(padOp, xs[0].JoinInto(p, dst, xs))
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
func PadSequenceMasked[T Padder[T]](xs []T, opt PadSequenceOptions) (out, masks T, err error) {
	var none T
	p, err := planPadded(xs, opt)
	if err != nil {
		return none, none, named(padOp, err)
	}
	if out, err = xs[0].Join(p, xs); err != nil {
		return none, none, named(padOp, err)
	}
	if masks, err = xs[0].JoinMasks(&Pass{Join: p.Join}, xs); err != nil {
		return none, none, named(padOp, err)
	}
	return out, masks, nil
}

const padOp = "pad sequence"

// padding is how a JoinPlan pads the values that it stacks.
type padding struct {
	dim    int // of a value; negative from its last
	left   bool
	length int // or 0
}

func planPadded[T Joiner[T]](xs []T, opt PadSequenceOptions) (*Pass, error) {
	var none T
	if len(xs) == 0 {
		return nil, fmt.Errorf("%w: got nothing to pad, want at least one value", ErrShape)
	}
	for i, x := range xs {
		if x == none {
			return nil, fmt.Errorf("value %d: %w: got nil", i, ErrKind)
		}
	}
	j := &JoinPlan{stack: true, pad: &padding{opt.Dim, opt.Left, opt.Length}}
	if opt.Length < 0 {
		return nil, fmt.Errorf("%w: got length %d, want none negative", ErrShape, opt.Length)
	}
	if opt.Dim < 0 { // of each leaf, about which values know more than their shapes
		j.shape = Shape{len(xs)}
		return &Pass{Join: j, Fill: opt.Value, Fills: opt.Values}, nil
	}
	shape, err := j.Joined(len(xs), false, func(i int) Shape { return xs[i].Shape() })
	if err != nil {
		return nil, err
	}
	j.shape = shape
	return &Pass{Join: j, Fill: opt.Value, Fills: opt.Values}, nil
}

// Within returns the plan for values whose batch shapes, joined, are batch.
func (j *JoinPlan) Within(batch Shape) *JoinPlan {
	if len(batch) <= len(j.shape) {
		return j
	}
	out := *j
	out.shape = batch
	return &out
}

// Padded reports whether the plan pads values that differ in length.
func (j *JoinPlan) Padded() bool { return j.pad != nil }

// PadDim returns the dim of a value of shape s along which the plan pads, and false if s has none.
// A shape that is not that of a leaf, but of a batch, has none that counts from the last.
func (j *JoinPlan) PadDim(s Shape, leaf bool) (dim int, ok bool) {
	switch {
	case j.pad == nil, j.pad.dim >= len(s), j.pad.dim < -len(s), j.pad.dim < 0 && !leaf:
		return 0, false
	case j.pad.dim < 0:
		return j.pad.dim + len(s), true
	}
	return j.pad.dim, true
}

// Joined returns the shape of n values of these shapes joined. Of a plan that pads, batches that
// lack the dim to pad are joined without; leaves must have it. Joined returns [ErrShape] if the
// shapes do not fit the plan or one another, and [ErrDim] for a dim that they must have.
func (j *JoinPlan) Joined(n int, leaf bool, shape func(i int) Shape) (Shape, error) {
	if j.pad == nil {
		if err := j.Check(n, shape); err != nil {
			return nil, err
		}
		return j.Extend(shape(0)), nil
	}
	first := shape(0)
	at, ok := j.PadDim(first, leaf)
	if !ok && leaf {
		return nil, fmt.Errorf("%w: got dim %d of %v to pad, want one of its dims", ErrDim, j.pad.dim, first)
	}
	longest, err := j.longest(n, at, ok, shape)
	if err != nil {
		return nil, err
	}
	out := append(append(make(Shape, 0, len(first)+1), n), first...)
	if ok {
		out[at+1] = longest
	}
	if err := out.Check(); err != nil {
		return nil, err
	}
	return out, out.CheckPrefix(j.shape)
}

// longest checks that values are alike but for a dim, if they have it, and returns how long that
// becomes.
func (j *JoinPlan) longest(n, at int, has bool, shape func(i int) Shape) (int, error) {
	first, longest := shape(0), 0
	for i := range n {
		s := shape(i)
		if !has {
			if err := s.CheckEqual(first); err != nil {
				return 0, fmt.Errorf("value %d: %w", i, err)
			}
			continue
		}
		if len(s) != len(first) || !s[:at].Equal(first[:at]) || !s[at+1:].Equal(first[at+1:]) {
			return 0, fmt.Errorf("value %d: %w: got %v, want %v but for dim %d", i, ErrShape, s, first, at)
		}
		if j.pad.length > 0 && s[at] > j.pad.length {
			return 0, fmt.Errorf("value %d: %w: got length %d, want at most %d", i, ErrShape, s[at], j.pad.length)
		}
		longest = max(longest, s[at], j.pad.length)
	}
	return longest, nil
}

// Place returns, of a view of the result of a plan that pads, the part that value i of shape s
// fills, that of a leaf or a batch, and the part that is padding; the latter is empty if there is
// none.
func (j *JoinPlan) Place(v View, i int, s Shape, leaf bool) (part, gap View) {
	part = View{Shape: s, Strides: v.Strides[1:], Offset: v.Offset + i*v.Strides[0]}
	gap = part
	at, ok := j.PadDim(s, leaf)
	if !ok {
		gap.Shape = Shape{0}
		gap.Strides = []int{1}
		return part, gap
	}
	gap.Shape = s.Clone()
	gap.Shape[at] = v.Shape[at+1] - s[at]
	if j.pad.left {
		part.Offset += gap.Shape[at] * v.Strides[at+1]
	} else {
		gap.Offset += s[at] * v.Strides[at+1]
	}
	return part, gap
}

// PadsLeft reports whether a plan pads before the values.
func (j *JoinPlan) PadsLeft() bool { return j.pad != nil && j.pad.left }
