package tensor

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/arena"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// Execute applies p.Plan to t. The result shares t's memory, unless the plan picks by lists or
// masks, lays pieces together, or reshapes beyond what strides express; then it is a copy. It
// returns shape.ErrShape unless the shape of t begins with the plan's shape, and [ErrDType] if
// the plan pads and t's dtype does not hold p.Fill.
func (v *ops) Execute(p *plan.Pass) (*Tensor, error) {
	t := (*Tensor)(v)
	if err := p.CheckPlan(t.view.Shape); err != nil {
		return nil, err
	}
	switch {
	case p.Plan.Pick() != nil:
		return t.picked(p)
	case p.Plan.Laid():
		return t.laid(p)
	}
	out, err := t.viewed(p)
	if out != nil || err != nil {
		return out, err
	}
	c, err := t.clone(p) // a reshape beyond what strides express
	if err != nil {
		return nil, err
	}
	return c.viewed(p)
}

// viewed applies a plan that does not pick, sharing t's memory. It returns nil if there is no such
// view.
func (t *Tensor) viewed(p *plan.Pass) (*Tensor, error) {
	view, ok, err := p.View(t.view)
	if err != nil || !ok {
		return nil, err
	}
	out := arena.Of[Tensor](p).Header(0)
	*out = Tensor{t.dtype, view, t.mem}
	return out, nil
}

// picked applies a plan with lists or masks: it returns a copy.
func (t *Tensor) picked(p *plan.Pass) (*Tensor, error) {
	out, done, err := blankLike(p, t.dtype, p.Plan.Shape(), t.view.Shape[len(p.Plan.From()):], t)
	if err != nil || done {
		return out, err
	}
	if c := t.compressed(p, out); c != nil {
		if err := c.run(p.Workers); err != nil {
			return nil, err
		}
		return out, nil
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

// executed applies the plan of an operation that was just made, unless err is not nil. Errors begin
// with op.
func (t *Tensor) executed(op string, p *plan.Plan, err error) (*Tensor, error) {
	if err != nil {
		return nil, errtext.Named(op, err)
	}
	out, err := t.Ops().Execute(plan.NewPass(p))
	return out, errtext.Named(op, err)
}

// Index returns the part of t that an index expression selects. The result is a copy if the
// expression has a list or a mask; otherwise it shares t's memory. It returns shape.ErrIndex if
// the expression does not fit t's shape, for example if a position is out of range.
func (t *Tensor) Index(expr ...ix.Index) (*Tensor, error) {
	p, err := plan.Index(t.view.Shape, expr...)
	return t.executed("index", p, err)
}

// executedInto is executed with a destination.
func (t *Tensor) executedInto(op string, dst *Tensor, p *plan.Plan, err error) error {
	if err == nil {
		err = (*ops)(t).ExecuteInto(plan.NewPass(p), dst)
	}
	return errtext.Named(op, err)
}

// written writes src to the part of t that a plan selects, as executedInto reads from it.
func (t *Tensor) written(op string, src *Tensor, p *plan.Plan, err error) error {
	if err == nil {
		err = (*ops)(t).Write(plan.NewPass(p), src)
	}
	return errtext.Named(op, err)
}

// IndexInto is [Tensor.Index] into dst, which has the dtype and the shape of the result. It also
// returns the errors of [Transfer]; on an error nothing has changed. In a loop that reuses dst, it
// allocates only headers and the lists of rows.
func (t *Tensor) IndexInto(dst *Tensor, expr ...ix.Index) error {
	p, err := plan.Index(t.view.Shape, expr...)
	return t.executedInto("index", dst, p, err)
}

// SetIndex writes value, broadcast, to the part of t that an index expression selects. If a list
// names a position twice, the last value written wins. SetIndex returns shape.ErrIndex as
// [Tensor.Index] does, and the errors of [Transfer]; on an error nothing has changed.
func (t *Tensor) SetIndex(value *Tensor, expr ...ix.Index) error {
	p, err := plan.Index(t.view.Shape, expr...)
	return t.written("set index", value, p, err)
}

// AsIndex returns t as a part of an index expression. A bool tensor is a mask; it selects from as
// many dims as it has. An integer tensor is a list of positions of one dim; in the result its shape
// replaces that dim. AsIndex returns [ErrDType] for other dtypes and for a bool that is neither 0
// nor 1, and [ErrKind] if t is nil. It copies t, which may change afterwards.
func (t *Tensor) AsIndex() (ix.Index, error) {
	switch {
	case t == nil:
		return ix.Index{}, errNil
	case t.dtype == Bool:
		own, err := ownMask(t)
		if err != nil {
			return ix.Index{}, err
		}
		var x ix.Index
		err = Read(own, func(bits []bool) { x = maskOf(bits, own.view.Shape) })
		return x, err
	case t.dtype.IsInteger():
		list, err := t.Ints()
		if err != nil {
			return ix.Index{}, err
		}
		return ix.TakeND(list, t.view.Shape...), nil
	}
	return ix.Index{}, fmt.Errorf("%w: got an index of %v, want bool or integers", ErrDType, t.dtype)
}

func maskOf(bits []bool, shape shape.Shape) ix.Index {
	if len(shape) == 0 {
		return ix.Bool(bits[0])
	}
	return ix.Mask(bits, shape...)
}

// Ints returns a copy of the elements of an integer tensor, row-major. A uint64 that int does not
// hold becomes the largest int. Ints returns [ErrDType] if t does not hold integers and [ErrKind]
// if it is nil.
func (t *Tensor) Ints() ([]int, error) {
	if t == nil {
		return nil, errNil
	}
	if !t.dtype.IsInteger() {
		return nil, fmt.Errorf("%w: got %v, want integers", ErrDType, t.dtype)
	}
	if t.Device() == Meta {
		return nil, ErrMeta
	}
	if t.dtype != Int64 {
		wide, err := t.cast(Int64)
		if err != nil {
			return nil, err
		}
		t = wide
	}
	list := make([]int, t.Size())
	err := Read(t, func(numbers []int64) {
		for i, n := range numbers {
			list[i] = int(n)
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}
