package tensor

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// Execute returns what p.Plan makes of t. The result shares t's memory, unless the plan picks by
// lists or masks, or reshapes what strides cannot express; then it is a copy. It returns
// shapeops.ErrShape if the shape of t does not begin with that of the plan.
func (t *Tensor) Execute(p *shapeops.Pass) (*Tensor, error) {
	if err := p.CheckPlan(t.view.Shape); err != nil {
		return nil, err
	}
	if p.Plan.Pick() != nil {
		return t.picked(p)
	}
	out, err := t.viewed(p)
	if out != nil || err != nil {
		return out, err
	}
	c, err := t.clone(p) // a reshape that strides do not express
	if err != nil {
		return nil, err
	}
	return c.viewed(p)
}

// viewed returns what a plan that does not pick makes of t, sharing its memory, or nil if there is
// no such view.
func (t *Tensor) viewed(p *shapeops.Pass) (*Tensor, error) {
	view, ok, err := p.View(t.view)
	if err != nil || !ok {
		return nil, err
	}
	out := roomOf(p).header(0)
	*out = Tensor{t.dtype, view, t.mem}
	return out, nil
}

// picked returns the copy that a plan with lists or masks makes of t.
func (t *Tensor) picked(p *shapeops.Pass) (*Tensor, error) {
	out, err := blank(p, t.dtype, p.Plan.Shape(), t.view.Shape[len(p.Plan.From()):])
	if err != nil {
		return nil, err
	}
	frame, err := p.Frame(t.view)
	if err != nil {
		return nil, err
	}
	var m move
	m.gather(t.dtype.Size(), out.mem, t.mem, out.view, frame, len(p.Plan.Pick().Shape()))
	if err := m.run(p.Workers); err != nil {
		return nil, err
	}
	return out, nil
}

// executed is Execute after the planning of an operation.
func (t *Tensor) executed(plan *shapeops.Plan, err error) (*Tensor, error) {
	if err != nil {
		return nil, err
	}
	return t.Execute(shapeops.NewPass(plan))
}

// Index returns the part of t that an index expression selects. The result shares t's memory if the
// expression has neither a list nor a mask, and is a copy if it has. The errors are those of
// shapeops.Shape.Index.
func (t *Tensor) Index(expr ...ix.Index) (*Tensor, error) {
	return t.executed(t.view.Shape.Index(expr...))
}

// IndexInto is [Tensor.Index] into a tensor that the caller owns, which must have the dtype and the
// shape of the result. Its errors are also those of [Transfer]; on an error nothing has changed. In
// a loop that reuses dst, only headers are allocated.
func (t *Tensor) IndexInto(dst *Tensor, expr ...ix.Index) error {
	plan, err := t.view.Shape.Index(expr...)
	if err != nil {
		return err
	}
	var tr Transfer
	if err := t.ExecuteInto(&tr, dst, shapeops.NewPass(plan)); err != nil {
		return err
	}
	return tr.Run()
}

// SetIndex writes value, broadcast, to the part of t that an index expression selects. Where a list
// names a position twice, the last value stays. The errors are those of shapeops.Shape.Index and of
// [Transfer]; on an error nothing has changed.
func (t *Tensor) SetIndex(value *Tensor, expr ...ix.Index) error {
	plan, err := t.view.Shape.Index(expr...)
	if err != nil {
		return err
	}
	var tr Transfer
	if err := t.Write(&tr, value, shapeops.NewPass(plan)); err != nil {
		return err
	}
	return tr.Run()
}

// AsIndex returns t as a part of an index expression: a bool tensor is a mask over as many dims as
// it has, an integer tensor a list of positions in t's arrangement. It returns [ErrDType] for other
// dtypes, and for a bool that is neither 0 nor 1. It copies, so that t may change afterwards.
func (t *Tensor) AsIndex() (ix.Index, error) {
	switch {
	case t.dtype == Bool:
		var x ix.Index
		err := Read(t, func(bits []bool) { x = maskOf(bits, t.view.Shape) })
		return x, err
	case t.dtype.IsInteger():
		list, err := t.positions()
		if err != nil {
			return ix.Index{}, err
		}
		return ix.TakeND(list, t.view.Shape...), nil
	}
	return ix.Index{}, fmt.Errorf("%w: got an index of %v, want bool or integers", ErrDType, t.dtype)
}

func maskOf(bits []bool, shape shapeops.Shape) ix.Index {
	if len(shape) == 0 {
		return ix.Bool(bits[0])
	}
	return ix.Mask(bits, shape...)
}

// positions returns the elements of an integer tensor. One too large for an int is out of range for
// any index.
func (t *Tensor) positions() ([]int, error) {
	wide, err := t.Cast(Int64)
	if err != nil {
		return nil, err
	}
	numbers, err := Of[int64](wide)
	if err != nil {
		return nil, err
	}
	list := make([]int, len(numbers))
	for i, n := range numbers {
		list[i] = int(n)
	}
	return list, nil
}
