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

// PaddedOptions are the options of [Stacked.Padded]. The zero value is the default.
type PaddedOptions struct {
	// Fill is the value of padding: a number or a bool, which the dtype must hold. Nil is zero.
	Fill any
	// Left puts the padding before the elements of a member. By default it comes after them.
	Left bool
	// Mask makes Padded also return a bool tensor that is true for elements of members.
	Mask bool
}

// Padded returns the members stacked, each padded along every dim to the size of the largest. A
// position without a member is all padding. The members must be tensors of the same dtype and rank.
// The mask has the shape of the result; it is nil unless opt.Mask is set. Both are new tensors.
//
//	members [B... Ti Fi...] -> [B... N max(Ti) max(Fi)...]
//
// Padded returns [ErrKind] if the members are not tensors or s is nil or zero, shapeops.ErrShape,
// with the number of the member, if they differ in rank, and tensor.ErrDType if they differ in
// dtype or the dtype does not hold opt.Fill.
func (s *Stacked) Padded(opt PaddedOptions) (padded, mask *tensor.Tensor, err error) {
	sizes, d, err := s.largest()
	if err != nil {
		return nil, nil, err
	}
	if padded, err = tensor.New(d, sizes...); err != nil {
		return nil, nil, err
	}
	var tr tensor.Transfer
	if opt.Fill != nil {
		one, err := tensor.ScalarOf(d, opt.Fill)
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

// largest returns the shape of the padded result, and its dtype.
func (s *Stacked) largest() (sizes shapeops.Shape, d tensor.DType, err error) {
	if !s.valid() {
		return nil, 0, errNoStacked
	}
	for i, m := range s.members {
		t, ok := m.value.(*tensor.Tensor)
		switch {
		case m.value == nil:
			continue
		case !ok:
			return nil, 0, fmt.Errorf("member %d: %w: got %s, want a tensor", i, ErrKind, describe(m.value))
		case sizes == nil:
			sizes, d = t.Shape().Clone(), t.DType()
		case len(t.Shape()) != len(sizes):
			return nil, 0, fmt.Errorf("member %d: %w: got %v, want %d dims as in the first member", i, shapeops.ErrShape, t.Shape(), len(sizes))
		case t.DType() != d:
			return nil, 0, fmt.Errorf("member %d: %w: got %v, want %v as in the first member", i, tensor.ErrDType, t.DType(), d)
		}
		for dim, n := range t.Shape() {
			sizes[dim] = max(sizes[dim], n)
		}
	}
	return slices.Insert(sizes, s.dim, len(s.members)), d, nil
}

// place adds to tr the copy of member i to its place in padded, and true to the same place in mask
// unless mask is nil. There is nothing to do if v is nil.
func (s *Stacked) place(tr *tensor.Transfer, padded, mask *tensor.Tensor, i int, v Value, left bool) error {
	t, ok := v.(*tensor.Tensor)
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

// Ragged returns the members as the rows of a ragged tensor. Its level is the dim after the stack
// dim. The members must be tensors of the same dtype. A position without a member has an empty row.
// The result is a copy.
//
//	members [B... Ti F...] -> [B... N * F...]
//
// Ragged returns [ErrKind] if the members are not tensors or s is nil or zero, shapeops.ErrShape,
// with the number of the member, if a member has no such dim or members differ in the dims after
// it, and tensor.ErrDType if they differ in dtype.
func (s *Stacked) Ragged() (*ragged.Tensor, error) {
	if !s.valid() {
		return nil, errNoStacked
	}
	var values []*tensor.Tensor
	rows := s.shape[:s.dim].Size() // rows of a member
	lengths := make([]int64, 0, rows*len(s.members))
	for i, m := range s.members {
		t, ok := m.value.(*tensor.Tensor)
		switch {
		case m.value == nil:
			lengths = append(lengths, make([]int64, rows)...)
			continue
		case !ok:
			return nil, fmt.Errorf("member %d: %w: got %s, want a tensor", i, ErrKind, describe(m.value))
		case len(t.Shape()) <= s.dim:
			return nil, fmt.Errorf("member %d: %w: got %v, want a dim %d to become the level", i, shapeops.ErrShape, t.Shape(), s.dim)
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
