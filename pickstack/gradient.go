package pickstack

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Gradient returns the gradients of the inputs, given the gradient g of the output:
//
//	g [B A sum(C_n)], xs[n] [B P_n C_n] -> dxs[n] [B P_n C_n]
//
// For a plan that picks, and for [Sum] and [Mean] without MinValue, only the shapes and dtypes of
// xs matter: they may be on device meta. If a tensor is several inputs, there is a gradient for
// each; the gradient of the tensor is their sum. Gradient returns the errors of [Plan.Forward],
// also for g.
func (p *Plan) Gradient(g *tensor.Tensor, xs ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	dtype, err := p.checkGradient(g, xs)
	if err == nil && !p.linear {
		err = checkElements(xs) // before dxs are allocated
	}
	if err != nil {
		return nil, p.named(err)
	}
	dxs := make([]*tensor.Tensor, len(xs))
	for n, x := range xs {
		if dxs[n], err = tensor.New(dtypes[dtype], x.Shape()...); err != nil {
			return nil, p.named(err)
		}
	}
	if err := p.GradientInto(dxs, g, xs...); err != nil {
		return nil, err
	}
	return dxs, nil
}

// GradientInto is [Plan.Gradient] into dxs, of any layout. If one of dxs is nil, its gradient is
// not computed. dxs must share no elements with each other, g or xs. GradientInto returns the
// errors of Gradient and, for dxs, of [Plan.ForwardInto].
func (p *Plan) GradientInto(dxs []*tensor.Tensor, g *tensor.Tensor, xs ...*tensor.Tensor) error {
	return p.named(p.gradient(dxs, g, xs, false))
}

// AddGradient is [Plan.GradientInto], but adds the gradients to dxs. It accesses only the rows of
// dxs that an index of the plan contains.
func (p *Plan) AddGradient(dxs []*tensor.Tensor, g *tensor.Tensor, xs ...*tensor.Tensor) error {
	return p.named(p.gradient(dxs, g, xs, true))
}

func (p *Plan) gradient(dxs []*tensor.Tensor, g *tensor.Tensor, xs []*tensor.Tensor, add bool) error {
	dtype, err := p.checkGradient(g, xs)
	if err != nil {
		return err
	}
	if len(dxs) != len(xs) {
		return fmt.Errorf("gradients of the inputs: %w: got %d tensors, want %d", shapeops.ErrShape, len(dxs), len(xs))
	}
	for n, dx := range dxs {
		switch {
		case dx == nil:
		case dx.DType() != xs[n].DType():
			return fmt.Errorf("gradient of input %d: %w: got %v, want %v", n, tensor.ErrDType, dx.DType(), xs[n].DType())
		case !dx.Shape().Equal(xs[n].Shape()):
			return fmt.Errorf("gradient of input %d: %w: got %v, want %v", n, shapeops.ErrShape, dx.Shape(), xs[n].Shape())
		}
	}
	c := p.begin(dtype)
	defer p.done(dtype, c)
	o := c.tensors()
	o.set(xs)
	o.src, o.dst, o.backward, o.add = append(append(o.src, g), xs...), append(o.dst, dxs...), true, add
	if err := o.checkApart(); err != nil {
		return err
	}
	if p.linear { // xs are not read
		o.src = o.src[:1]
	}
	return c.gradient()
}
