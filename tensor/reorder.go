package tensor

import (
	"github.com/go-tensordict/tensordict/internal/plan"
)

// Flip returns a copy of t with the order of positions reversed along the given dims, or along all
// if none is given. It returns shapeops.ErrDim.
func (t *Tensor) Flip(dims ...int) (*Tensor, error) {
	return t.executed(plan.Flip(t.view.Shape, dims...))
}

// FlipInto is [Tensor.Flip] into a tensor that the caller owns, which must have t's dtype and
// shape. Its errors are also those of [Transfer]; on an error nothing has changed.
func (t *Tensor) FlipInto(dst *Tensor, dims ...int) error {
	p, err := plan.Flip(t.view.Shape, dims...)
	return t.executedInto(dst, p, err)
}

// FlipInPlace is [Tensor.Flip] of t itself, by way of a copy.
func (t *Tensor) FlipInPlace(dims ...int) error {
	return t.reorderInPlace(plan.Flip(t.view.Shape, dims...))
}

// Roll returns a copy of t with each position of a dim moved so many places on; those that leave it
// at the end come back at its beginning. A negative shift goes the other way. Its errors are those
// of shapeops.Shape.Roll.
func (t *Tensor) Roll(shift, dim int) (*Tensor, error) {
	return t.executed(plan.Roll(t.view.Shape, shift, dim))
}

// RollInto is [Tensor.Roll] into a tensor that the caller owns, which must have t's dtype and
// shape. Its errors are also those of [Transfer]; on an error nothing has changed.
func (t *Tensor) RollInto(dst *Tensor, shift, dim int) error {
	p, err := plan.Roll(t.view.Shape, shift, dim)
	return t.executedInto(dst, p, err)
}

// RollInPlace is [Tensor.Roll] of t itself, by way of a copy.
func (t *Tensor) RollInPlace(shift, dim int) error {
	return t.reorderInPlace(plan.Roll(t.view.Shape, shift, dim))
}

// Rot90 returns a copy of t with the plane of two dims turned by so many quarters, from the first
// dim towards the second. Its errors are those of shapeops.Shape.Rot90.
func (t *Tensor) Rot90(quarters, first, second int) (*Tensor, error) {
	return t.executed(plan.Rot90(t.view.Shape, quarters, first, second))
}

// Rot90Into is [Tensor.Rot90] into a tensor that the caller owns, which must have the dtype and the
// shape of the result. Its errors are also those of [Transfer]; on an error nothing has changed.
func (t *Tensor) Rot90Into(dst *Tensor, quarters, first, second int) error {
	p, err := plan.Rot90(t.view.Shape, quarters, first, second)
	return t.executedInto(dst, p, err)
}

// reorderInPlace does an operation that keeps t's shape on t itself, by way of a copy.
func (t *Tensor) reorderInPlace(p *plan.Plan, err error) error {
	if err != nil {
		return err
	}
	if err := t.checkWritable(); err != nil {
		return err
	}
	c, err := t.Clone()
	if err != nil {
		return err
	}
	return c.executedInto(t, p, nil)
}
