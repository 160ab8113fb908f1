package tdict

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// PaddedOptions say how [Stacked.Padded] pads. The zero value is the default.
type PaddedOptions struct {
	// Value is what is padded with: a number or a bool, which the dtype must hold. Nil is zero.
	Value any
	// Left puts the padding before the elements of a member. By default it comes after them.
	Left bool
	// Mask asks for a bool tensor that says which elements are those of members.
	Mask bool
}

// Padded returns the members, which must be tensors of one dtype and as many dims, stacked, each
// padded along every dim to the largest; where there is none, all is padding. The mask has the
// shape of the result, and is nil unless opt asks for it. Both have memory of their own.
//
//	members [B... Ti Fi...] -> [B... N max(Ti) max(Fi)...]
//
// Padded returns [ErrKind] if the members are no tensors, or if s is nil or zero,
// shapeops.ErrShape, with the member, if they differ in rank, and tensor.ErrDType if they differ in
// dtype or it does not hold the value.
func (s *Stacked) Padded(opt PaddedOptions) (padded, mask *tensor.Tensor, err error) {
	sizes, d, err := s.largest()
	if err != nil {
		return nil, nil, err
	}
	if padded, err = tensor.New(d, sizes...); err != nil {
		return nil, nil, err
	}
	var tr tensor.Transfer
	if opt.Value != nil {
		one, err := tensor.ScalarOf(d, opt.Value)
		if err == nil {
			err = tr.Fill(padded, one)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if opt.Mask {
		if mask, err = tensor.New(tensor.Bool, sizes...); err != nil {
			return nil, nil, err
		}
	}
	for i, m := range s.members {
		if err := s.place(&tr, padded, mask, i, m.value, opt.Left); err != nil {
			return nil, nil, fmt.Errorf("member %d: %w", i, err)
		}
	}
	return padded, mask, tr.Run()
}

// largest returns the shape of the padded members, and their dtype.
func (s *Stacked) largest() (sizes shapeops.Shape, d tensor.DType, err error) {
	if !s.made() {
		return nil, 0, errNoStacked
	}
	for i, m := range s.members {
		t, ok := asTensor(m.value)
		switch {
		case m.value == nil:
			continue
		case !ok:
			return nil, 0, fmt.Errorf("member %d: %w: got %s, want a tensor", i, ErrKind, describe(m.value))
		case sizes == nil:
			sizes, d = t.Shape().Clone(), t.DType()
		case len(t.Shape()) != len(sizes):
			return nil, 0, fmt.Errorf("member %d: %w: got %v, want %d dims as before it", i, shapeops.ErrShape, t.Shape(), len(sizes))
		case t.DType() != d:
			return nil, 0, fmt.Errorf("member %d: %w: got %v, want %v as before it", i, tensor.ErrDType, t.DType(), d)
		}
		for dim, n := range t.Shape() {
			sizes[dim] = max(sizes[dim], n)
		}
	}
	return slices.Insert(sizes, s.dim, len(s.members)), d, nil
}

// place adds to tr what puts member i, unless it is nil, in its place in the padded members, and
// true there in the mask, if there is one.
func (s *Stacked) place(tr *tensor.Transfer, padded, mask *tensor.Tensor, i int, v Value, left bool) error {
	t, ok := asTensor(v)
	if !ok {
		return nil
	}
	expr := make([]ix.Index, len(t.Shape()))
	for dim, n := range t.Shape() {
		room := padded.Shape()[dim]
		if dim >= s.dim {
			room = padded.Shape()[dim+1]
		}
		if expr[dim] = ix.Range(0, n); left {
			expr[dim] = ix.Range(room-n, room)
		}
	}
	expr = slices.Insert(expr, s.dim, ix.At(i))
	part, err := padded.Index(expr...)
	if err == nil {
		err = tr.Copy(part, t)
	}
	if err != nil || mask == nil {
		return err
	}
	if part, err = mask.Index(expr...); err != nil {
		return err
	}
	return tr.Fill(part, trueElement)
}

var trueElement = tensor.Must(tensor.From([]bool{true}))

// Ragged returns the members, which must be tensors of one dtype, as the rows of a ragged tensor,
// whose level is the dim that comes after the stack dim. A position without a member has no row in
// it. The result is a copy.
//
//	members [B... Ti F...] -> [B... N * F...]
//
// Ragged returns [ErrKind] if the members are no tensors, or if s is nil or zero,
// shapeops.ErrShape, with the member, if one has no such dim or they differ in those after it, and
// tensor.ErrDType if they differ in dtype.
func (s *Stacked) Ragged() (*ragged.Tensor, error) {
	if !s.made() {
		return nil, errNoStacked
	}
	var values []*tensor.Tensor
	rows := s.shape[:s.dim].Size() // of a member
	lengths := make([]int64, 0, rows*len(s.members))
	for i, m := range s.members {
		t, ok := asTensor(m.value)
		switch {
		case m.value == nil:
			lengths = append(lengths, make([]int64, rows)...)
			continue
		case !ok:
			return nil, fmt.Errorf("member %d: %w: got %s, want a tensor", i, ErrKind, describe(m.value))
		case len(t.Shape()) <= s.dim:
			return nil, fmt.Errorf("member %d: %w: got %v, want a dim %d for its row", i, shapeops.ErrShape, t.Shape(), s.dim)
		}
		lengths = append(lengths, slices.Repeat([]int64{int64(t.Shape()[s.dim])}, rows)...)
		flat, err := t.Flatten(0, s.dim)
		if err != nil {
			return nil, err
		}
		values = append(values, flat)
	}
	all, err := shapeops.Cat(values, 0)
	if err != nil {
		return nil, err
	}
	l, err := ragged.LayoutOf(append(shapeops.Shape{len(s.members)}, s.shape[:s.dim]...), lengths)
	if err != nil {
		return nil, err
	}
	t, err := ragged.New(all, l)
	if err != nil || s.dim == 0 {
		return t, err
	}
	p, err := plan.Movedim(t.Shape(), 0, s.dim)
	if err != nil {
		return nil, err
	}
	return t.Ops().Execute(plan.NewPass(p))
}
