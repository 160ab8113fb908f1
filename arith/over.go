package arith

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// ErrEmpty is returned by an operation that must choose from no elements, such as [Min] of
// integers.
var ErrEmpty = errors.New("no element")

// An Over selects the elements that a reduction such as [Sum] combines: the dims, the groups of
// rows, and the mask of elements that count. [Dims], [Features], [Whole], [BySplits] and [ByGroups]
// make Overs, and methods return changed copies. The zero Over is [Whole]. The operation that an
// Over is passed to returns the errors of an invalid Over.
//
// Safe for concurrent use.
type Over struct {
	kind   overKind
	dims   []int
	splits *tensor.Tensor
	groups *Groups
	keep   bool
	masked bool
	some   bool // the mask may be a dictionary that lacks leaves
	mask   any
}

type overKind uint8

const (
	overWhole overKind = iota
	overDims
	overFeatures
	overSplits
	overGroups
)

// Overs without parameters.
var (
	// Whole is all dims: the result of a tensor is a scalar, and so is each leaf in the result of a
	// dictionary, whose batch shapes become [].
	Whole = Over{}
	// Features are the dims after the batch dims of the dictionary that holds a leaf, or all dims
	// of a tensor by itself. Batch shapes stay.
	Features = Over{kind: overFeatures}
)

// Dims returns an Over of the given dims of a tensor, or batch dims of a dictionary; negative dims
// count from the end of its shape. Dims are numbered by the batch shape of the outermost
// dictionary, also for an inner dictionary whose batch shape is longer: -1 is the last batch dim of
// the outermost dictionary. An operation returns shapeops.ErrDim if a dim is out of range or named
// twice, and if no dim is given.
func Dims(dims ...int) Over { return Over{kind: overDims, dims: slices.Clone(dims)} }

// BySplits returns an Over that reduces groups of consecutive rows along dim 0:
//
//	splits int64 [G+1], [N F...] -> [G F...]
//
// Group g has the rows splits[g] to splits[g+1]-1, as in [Groups]. An operation returns
// shapeops.ErrDim for a value without dims, tensor.ErrDType unless splits is int64, and
// shapeops.ErrShape unless it is a vector that begins with 0, ends with N and never decreases. A
// group is empty if its two splits are equal.
func BySplits(splits *tensor.Tensor) Over { return Over{kind: overSplits, splits: splits} }

// ByGroups returns an Over that reduces the rows of each group, wherever they lie along dim 0:
//
//	g has G groups of N rows, [N F...] -> [G F...]
//
// The results equal the results of [BySplits] for Take(0, g.Rows), which the operation does leaf by
// leaf. An operation returns the errors of BySplits, and tensor.ErrKind if g is nil; [CumSum] takes
// no groups.
func ByGroups(g *Groups) Over { return Over{kind: overGroups, groups: g} }

// Keep returns o changed to keep reduced dims, with size 1. It has no effect on [BySplits] and
// [ByGroups], whose dim 0 becomes the dim of groups.
func (o Over) Keep() Over {
	o.keep = true
	return o
}

// Where returns o with a mask: only elements where mask is true count. It replaces an earlier mask.
// mask is a bool tensor over leading dims of the operand:
//
//	mask [M...], x [M... F...]
//
// For a dictionary it may also be a dictionary with the same keys, in which each mask is over
// leading dims of the leaf of that key. An operation returns tensor.ErrDType if a mask is not bool,
// shapeops.ErrShape if it does not fit, tensor.ErrKind if it is nil or of another type, and
// tdict.ErrMissing if the keys differ.
func (o Over) Where(mask any) Over {
	o.mask, o.masked, o.some = mask, true, false
	return o
}

// Masked is [Over.Where] for masks that only some leaves have, as tdict.Schema.Masks returns them:
//
//	masks, err := schema.Masks(td)
//	means, err := arith.Mean(td, arith.Dims(0).Masked(masks))
//
// masks is a dictionary. A leaf without a mask counts whole, at the speed of an Over without masks;
// a mask without a leaf has no effect, so td may be a selection. The mask of a ragged leaf, over
// [Features], may be a tensor over its batch dims or a ragged tensor with its lengths. Where no
// element counts, the result is the one for no elements in the table of the package documentation.
// An operation returns the errors of masks of Where, but not tdict.ErrMissing.
func (o Over) Masked(masks any) Over {
	o.mask, o.masked, o.some = masks, true, true
	return o
}

// A scope is an Over that has been checked against an operand.
type scope struct {
	Over
	dims   []int          // not negative
	splits []int64        // or nil
	rows   *tensor.Tensor // the order of the rows that splits divides; nil if they are in order
}

// scopeOf checks o against x. It returns the mask, if there is one, as an operand for Leafwise.
func scopeOf[T Reducible[T]](x T, o Over) (*scope, []any, error) {
	var none T
	s := &scope{Over: o}
	if x == none {
		return s, nil, errNilX
	}
	var err error
	switch o.kind {
	case overDims:
		if len(o.dims) == 0 {
			return s, nil, fmt.Errorf("%w: got no dims: use Whole or Features", shapeops.ErrDim)
		}
		if _, err = plan.Reduce(x.Shape(), false, o.dims...); err != nil {
			return s, nil, err
		}
		s.dims = slices.Clone(o.dims)
		for i, dim := range o.dims {
			s.dims[i], _ = x.Shape().Dim(dim)
		}
		slices.Sort(s.dims)
	case overSplits:
		s.dims = []int{0}
		s.splits, err = splitsOf(x.Shape(), o.splits)
	case overGroups:
		s.dims = []int{0}
		s.splits, s.rows, err = o.groups.parts(x.Shape())
	}
	if err != nil || !o.masked {
		return s, nil, err
	}
	return s, []any{o.mask}, checkMask(x, o.mask)
}

// splitsOf returns a copy of the numbers of splits, checked against the rows of a shape.
func splitsOf(shape shapeops.Shape, t *tensor.Tensor) (splits []int64, err error) {
	if len(shape) == 0 {
		return nil, fmt.Errorf("%w: got shape [], want at least one dim", shapeops.ErrDim)
	}
	err = tensor.Read(t, func(s []int64) { splits = slices.Clone(s) })
	switch {
	case err != nil:
		return nil, fmt.Errorf("splits: %w", err)
	case len(t.Shape()) != 1 || len(splits) == 0:
		return nil, fmt.Errorf("splits: %w: got shape %v, want one dim with at least one number", shapeops.ErrShape, t.Shape())
	}
	if rows := int64(shape[0]); splits[0] != 0 || splits[len(splits)-1] != rows {
		return nil, fmt.Errorf("splits: %w: got splits from %d to %d, want from 0 to %d, the number of rows",
			shapeops.ErrShape, splits[0], splits[len(splits)-1], rows)
	}
	for i, at := range splits[1:] {
		if at < splits[i] {
			return nil, fmt.Errorf("splits: %w: got %d at position %d, want at least %d, the split before it", shapeops.ErrShape, at, i+1, splits[i])
		}
	}
	return splits, nil
}

// checkMask checks a mask as far as is possible before the leaves are known.
func checkMask[T Elementwise[T]](x T, mask any) error {
	var none T
	if x == none {
		return errNilX
	}
	if t, ok := mask.(*tensor.Tensor); ok {
		_, err := alignMask(t, x)
		return err
	}
	if m, ok := mask.(T); ok && m != none {
		return nil
	} else if ok {
		return fmt.Errorf("mask: %w: got nil", tensor.ErrKind)
	}
	return fmt.Errorf("mask: %w: got %T, want a *tensor.Tensor or the type of the operand, %T", tensor.ErrKind, mask, x)
}

// reduced reports for each dim of a leaf whether it is reduced. The leaf is in a dictionary with
// lead batch dims.
func (s *scope) reduced(leaf shapeops.Shape, lead int) []bool {
	out := make([]bool, len(leaf))
	for dim := range out {
		switch s.kind {
		case overWhole:
			out[dim] = true
		case overFeatures:
			out[dim] = dim >= lead
		}
	}
	for _, dim := range s.dims {
		out[dim] = true
	}
	return out
}

// shape returns the shape of the result for a leaf, of which the given dims are reduced.
func (s *scope) shape(leaf shapeops.Shape, reduced []bool) shapeops.Shape {
	out := shapeops.Shape{}
	for dim, size := range leaf {
		switch {
		case !reduced[dim]:
			out = append(out, size)
		case s.splits != nil:
			out = append(out, len(s.splits)-1)
		case s.keep:
			out = append(out, 1)
		}
	}
	return out
}

// batch returns Kernel.Batch of a reduction: nil if batch shapes stay.
func (s *scope) batch() func(shapeops.Shape) (*plan.Reduction, error) {
	switch s.kind {
	case overFeatures:
		return nil
	case overSplits, overGroups:
		return func(b shapeops.Shape) (*plan.Reduction, error) { return plan.Regroup(b, len(s.splits)-1) }
	}
	return func(b shapeops.Shape) (*plan.Reduction, error) { return plan.Reduce(b, s.keep, s.dims...) }
}
