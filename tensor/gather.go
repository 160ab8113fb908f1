package tensor

import (
	"cmp"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// Gather returns a tensor with the shape of index. Each element is an element of t: index gives its
// position along dim, and its other positions are the same as in index:
//
//	t [A N B], index [A' M B'] -> [A' M B'], out[a m b] = t[a index[a m b] b]
//
// index has as many dims as t; dims other than dim may be smaller than t's. Negative positions
// count from the end. The result is a copy. Gather returns shape.ErrDim, shape.ErrShape,
// shape.ErrIndex and the errors of [Tensor.Ints].
func (t *Tensor) Gather(dim int, index *Tensor) (*Tensor, error) {
	p, err := plan.GatherBy(t.view.Shape, dim, index)
	return t.executed("gather", p, err)
}

// GatherInto is [Tensor.Gather] into dst, which has t's dtype and the shape of index. It also
// returns the errors of [Transfer]; on an error nothing has changed.
func (t *Tensor) GatherInto(dst *Tensor, dim int, index *Tensor) error {
	p, err := plan.GatherBy(t.view.Shape, dim, index)
	return t.executedInto("gather", dst, p, err)
}

// Scatter reverses [Tensor.Gather]: it writes src, broadcast to the shape of index, to the elements
// of t that Gather would take. If index names an element twice, the last value written wins.
// Scatter returns the errors of Gather and of [Transfer]; on an error nothing has changed.
func (t *Tensor) Scatter(dim int, index, src *Tensor) error {
	p, err := plan.GatherBy(t.view.Shape, dim, index)
	return t.written("scatter", src, p, err)
}

// Take returns the elements of t at the positions along dim that index lists. The shape of index
// replaces that dim:
//
//	t [A N B], index [I...] -> [A I... B]
//
// The result is a copy. Take returns shape.ErrDim, shape.ErrShape, shape.ErrIndex and the
// errors of [Tensor.Ints].
func (t *Tensor) Take(dim int, index *Tensor) (*Tensor, error) {
	p, err := plan.TakeBy(t.view.Shape, dim, index)
	return t.executed("take", p, err)
}

// TakeInto is [Tensor.Take] into dst, which has the dtype and the shape of the result. It also
// returns the errors of [Transfer]; on an error nothing has changed.
func (t *Tensor) TakeInto(dst *Tensor, dim int, index *Tensor) error {
	p, err := plan.TakeBy(t.view.Shape, dim, index)
	return t.executedInto("take", dst, p, err)
}

// MaskedSelect returns the elements of t where a bool tensor over its leading dims is true:
//
//	t [M... F...], mask [M...] -> [n F...], n being the number of true elements
//
// The result is a copy. MaskedSelect returns [ErrDType] if mask is not bool, and shape.ErrIndex
// unless the shape of t begins with the shape of mask.
func (t *Tensor) MaskedSelect(mask *Tensor) (*Tensor, error) {
	var out *Tensor
	err := withMask(mask, func(x ix.Index) error {
		p, err := plan.Index(t.view.Shape, x)
		if err == nil {
			out, err = t.Ops().Execute(plan.NewPass(p))
		}
		return err
	})
	if err != nil {
		return nil, errtext.Named("masked select", err)
	}
	return out, nil
}

// MaskedSelectInto is [Tensor.MaskedSelect] into dst, which has the dtype and the shape of the
// result. It also returns the errors of [Transfer]; on an error nothing has changed.
func (t *Tensor) MaskedSelectInto(dst, mask *Tensor) error {
	into := func(x ix.Index) error {
		p, err := plan.Index(t.view.Shape, x)
		if err != nil {
			return err
		}
		return (*ops)(t).ExecuteInto(plan.NewPass(p), dst)
	}
	if dst == nil || !dst.SharesMemory(mask) {
		return errtext.Named("masked select", withMask(mask, into))
	}
	x, err := mask.AsMask() // a copy: writing dst changes mask
	if err == nil {
		err = into(x)
	}
	return errtext.Named("masked select", err)
}

// withMask calls fn with mask as an index. Unlike [Tensor.AsMask] it copies only lent memory: fn
// must not keep the index, nor write to mask's memory. It returns fn's error and the errors of
// [Read].
func withMask(mask *Tensor, fn func(x ix.Index) error) error {
	mask, err := ownMask(mask)
	if err != nil {
		return err
	}
	var failed error
	err = Read(mask, func(bits []bool) {
		if len(mask.view.Shape) == 0 {
			failed = fn(ix.Bool(bits[0]))
		} else {
			failed = fn(ix.MaskKeeping(bits, countTrue(cast.Bytes(bits)), mask.view.Shape...))
		}
	})
	return cmp.Or(failed, err)
}

// ownMask returns mask, or a copy of it if it is a bool tensor in lent memory: another process may
// write to a mapped file, and a mask must not change while an operation uses it. A nil mask is
// returned as it is. ownMask returns the errors of [Tensor.Clone].
func ownMask(mask *Tensor) (*Tensor, error) {
	if mask == nil || mask.dtype != Bool || mask.mem.loan == nil {
		return mask, nil
	}
	return mask.Clone()
}

// AsMask is [Tensor.AsIndex] of a bool tensor. It returns [ErrDType] for any other dtype.
func (t *Tensor) AsMask() (ix.Index, error) {
	if err := checkElem[bool](t); err != nil {
		return ix.Index{}, err
	}
	return t.AsIndex()
}
