package pickstack

import (
	"fmt"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// valuesOf returns the values of inputs, each a batch of one element: [1 P_n C_n].
func (p *RaggedPlan) valuesOf(xs []*ragged.Tensor) ([]*tensor.Tensor, error) {
	if len(p.inputs) == 0 {
		return nil, errNoPlan
	}
	if len(xs) != len(p.inputs) {
		return nil, fmt.Errorf("%w: got %d inputs, want %d", shapeops.ErrShape, len(xs), len(p.inputs))
	}
	values := make([]*tensor.Tensor, len(xs))
	for n, x := range xs {
		var err error
		if values[n], err = flatten(x, p.inputs[n], (*ragged.Tensor).Values); err != nil {
			return nil, &InputError{n, err}
		}
	}
	return values, nil
}

// gradientValues returns the values of the gradient of the output, and of the inputs.
func (p *RaggedPlan) gradientValues(g *ragged.Tensor, xs []*ragged.Tensor) (gs *tensor.Tensor, values []*tensor.Tensor, err error) {
	if values, err = p.valuesOf(xs); err != nil {
		return nil, nil, err
	}
	if gs, err = flatten(g, p.layout, (*ragged.Tensor).Values); err != nil {
		return nil, nil, fmt.Errorf("gradient of the output: %w", err)
	}
	return gs, values, nil
}

// gradientOnto calls gradient with the values of dxs as destinations.
func (p *RaggedPlan) gradientOnto(dxs []*ragged.Tensor, g *ragged.Tensor, xs []*ragged.Tensor, gradient func(*Plan, []*tensor.Tensor, *tensor.Tensor, ...*tensor.Tensor) error) error {
	gs, values, err := p.gradientValues(g, xs)
	if err != nil {
		return p.plan.named(err)
	}
	if len(dxs) != len(p.inputs) {
		return p.plan.named(fmt.Errorf("gradients of the inputs: %w: got %d tensors, want %d", shapeops.ErrShape, len(dxs), len(p.inputs)))
	}
	to := make([]*tensor.Tensor, len(dxs))
	for n, dx := range dxs {
		if dx == nil {
			continue
		}
		if to[n], err = flatten(dx, p.inputs[n], (*ragged.Tensor).ValuesView); err != nil {
			return p.plan.named(fmt.Errorf("gradient of input %d: %w", n, err))
		}
	}
	return gradient(&p.plan, to, gs, values...)
}

// flatten returns the values of a ragged tensor, which must have the given layout, as a batch of
// one element:
//
//	[Q * C] -> [1 V C]
func flatten(t *ragged.Tensor, layout *ragged.Layout, values func(*ragged.Tensor) (*tensor.Tensor, error)) (*tensor.Tensor, error) {
	if t.DType() == 0 {
		return nil, fmt.Errorf("%w: got no ragged tensor", tensor.ErrKind)
	}
	if err := t.Layout().CheckEqual(layout); err != nil {
		return nil, fmt.Errorf("%w in the plan", err)
	}
	if len(t.Features()) != 1 {
		return nil, fmt.Errorf("%w: got %s, want [Q * C]", shapeops.ErrDim, t.Text())
	}
	v, err := values(t)
	if err != nil {
		return nil, err
	}
	return v.Unsqueeze(0)
}

// unflatten is the inverse of flatten.
func unflatten(t *tensor.Tensor, layout *ragged.Layout) (*ragged.Tensor, error) {
	v, err := t.Squeeze(0)
	if err != nil {
		return nil, err
	}
	return ragged.New(v, layout)
}
