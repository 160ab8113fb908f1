package shapeops

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
)

// planned returns a pass of the plan that planOf makes for x.
func planned[T Value[T]](x T, planOf func(s Shape) (*plan.Plan, error)) (*plan.Pass, error) {
	var none T
	if x == none {
		return nil, fmt.Errorf("%w: got nil", ErrKind)
	}
	p, err := planOf(x.Shape())
	return &plan.Pass{Plan: p}, err
}

func execute[T Value[T]](op string, x T, planOf func(s Shape) (*plan.Plan, error)) (T, error) {
	var none T
	p, err := planned(x, planOf)
	if err != nil {
		return none, errtext.Named(op, err)
	}
	out, err := x.Ops().Execute(p)
	return out, errtext.Named(op, err)
}

func executeInto[T Value[T]](op string, dst, x T, planOf func(s Shape) (*plan.Plan, error)) error {
	var none T
	p, err := planned(x, planOf)
	if err == nil && dst == none {
		err = fmt.Errorf("%w: got no destination", ErrKind)
	}
	if err != nil {
		return errtext.Named(op, err)
	}
	return errtext.Named(op, x.Ops().ExecuteInto(p, dst))
}
