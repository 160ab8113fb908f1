package tensor

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// Execute returns what a plan makes of t. The result shares t's memory, unless the plan picks by lists or masks, or
// reshapes what strides cannot express; then it is a copy. It returns shapeops.ErrShape if the shape of t does not
// begin with p.From().
func (t *Tensor) Execute(p shapeops.Plan) (*Tensor, error) {
	if p.Pick() == nil {
		out, err := t.viewed(p)
		if !errors.Is(err, ErrLayout) {
			return out, err
		}
		c, err := t.Clone()
		if err != nil {
			return nil, err
		}
		return c.viewed(p)
	}
	if err := t.view.Shape.CheckPrefix(p.From()); err != nil {
		return nil, err
	}
	out, err := blank(t.dtype, p.Shape(), t.view.Shape[len(p.From()):])
	if err != nil {
		return nil, err
	}
	frame, err := p.Frame(out.room[min(2*len(out.view.Shape), len(out.room)):], t.view)
	if err != nil {
		return nil, err
	}
	rows, _, err := joinDims(out.view, frame.At, len(p.Pick().Shape())) // out is contiguous
	if err != nil {
		return nil, err
	}
	var m move
	m.pick(t.dtype.Size(), out.mem, t.mem, rows, frame, false)
	if err := m.run(); err != nil {
		return nil, err
	}
	return out, nil
}

// viewed returns what a plan that does not pick makes of t, always sharing its memory.
func (t *Tensor) viewed(p shapeops.Plan) (*Tensor, error) {
	out := &Tensor{dtype: t.dtype, mem: t.mem}
	view, ok, err := p.ViewIn(out.room[:], t.view)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errNoView
	}
	out.view = view
	return out, nil
}

var errNoView = fmt.Errorf("%w: the elements do not lie so that the result is a view", ErrLayout)

// executed is Execute behind the planning of an operation.
func (t *Tensor) executed(p shapeops.Plan, err error) (*Tensor, error) {
	if err != nil {
		return nil, err
	}
	return t.Execute(p)
}

// Index returns the part of t that an index expression selects. The result shares t's memory if the expression has
// neither a list nor a mask, and is a copy if it has. The errors are those of shapeops.Shape.Index.
func (t *Tensor) Index(expr ...ix.Index) (*Tensor, error) {
	return t.executed(t.view.Shape.Index(expr...))
}

// IndexInto is [Tensor.Index] into a tensor that the caller owns, which must have the dtype and the shape of the
// result. Its errors are also those of [Transfer]; on an error nothing has changed. In a loop that reuses dst, only
// headers are allocated.
func (t *Tensor) IndexInto(dst *Tensor, expr ...ix.Index) error {
	p, err := t.view.Shape.Index(expr...)
	if err != nil {
		return err
	}
	var tr Transfer
	if err := tr.Index(dst, t, p); err != nil {
		return err
	}
	return tr.Run()
}

// SetIndex writes value, broadcast, to the part of t that an index expression selects. Where a list names a position
// twice, the last value stays. The errors are those of shapeops.Shape.Index and of [Transfer]; on an error nothing
// has changed.
func (t *Tensor) SetIndex(value *Tensor, expr ...ix.Index) error {
	p, err := t.view.Shape.Index(expr...)
	if err != nil {
		return err
	}
	var tr Transfer
	if err := tr.SetIndex(t, value, p); err != nil {
		return err
	}
	return tr.Run()
}

// AsIndex returns t as a part of an index expression: a bool tensor is a mask over as many dims as it has, an integer
// tensor a list of positions in t's arrangement. It returns [ErrDType] for other dtypes, and for a bool that is neither
// 0 nor 1. It copies, so that t may change afterwards.
func (t *Tensor) AsIndex() (ix.Index, error) {
	switch {
	case t.dtype == Bool:
		var x ix.Index
		err := read(t, func(bits []bool) { x = maskOf(bits, t.view.Shape) })
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

// positions returns the elements of an integer tensor. One too large for an int is out of range for any index.
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
		if list[i] = int(n); int64(list[i]) != n { // a machine with narrow ints
			return nil, fmt.Errorf("%w: got position %d, want an int", shapeops.ErrIndex, n)
		}
	}
	return list, nil
}
