package pickstack

import (
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// Pick is [Plan.Forward] of the plan that [NewPick] makes of indices for xs. A loop keeps the plan.
//
//	xs[n] [B P_n C_n], indices[n] [A] or nil -> [B A sum(C_n)]
func Pick(xs, indices []*tensor.Tensor) (*tensor.Tensor, error) {
	p, err := NewPick(indices, widthsOf(xs), PickOptions{})
	if err != nil {
		return nil, err
	}
	return p.Forward(xs...)
}

// PickGradient is [Plan.Gradient] of the plan that [NewPick] makes of indices for xs.
//
//	g [B A sum(C_n)], xs[n] [B P_n C_n], indices[n] [A] or nil -> dxs[n] [B P_n C_n]
func PickGradient(g *tensor.Tensor, xs, indices []*tensor.Tensor) ([]*tensor.Tensor, error) {
	p, err := NewPick(indices, widthsOf(xs), PickOptions{})
	if err != nil {
		return nil, err
	}
	return p.Gradient(g, xs...)
}

// Pool is [Plan.Forward] of the plan that [NewPool] makes of pools for xs. A loop keeps the plan.
//
//	xs[n] [B P_n C_n], pools[n] [A *] or nil -> [B A sum(C_n)]
func Pool(xs []*tensor.Tensor, pools []*ragged.Tensor, opt PoolOptions) (*tensor.Tensor, error) {
	p, err := NewPool(pools, widthsOf(xs), opt)
	if err != nil {
		return nil, err
	}
	return p.Forward(xs...)
}

// PoolGradient is [Plan.Gradient] of the plan that [NewPool] makes of pools for xs.
//
//	g [B A sum(C_n)], xs[n] [B P_n C_n], pools[n] [A *] or nil -> dxs[n] [B P_n C_n]
func PoolGradient(g *tensor.Tensor, xs []*tensor.Tensor, pools []*ragged.Tensor, opt PoolOptions) ([]*tensor.Tensor, error) {
	p, err := NewPool(pools, widthsOf(xs), opt)
	if err != nil {
		return nil, err
	}
	return p.Gradient(g, xs...)
}

// widthsOf returns the rows of inputs. Of one that has none, which is an error by and by, it is 0.
func widthsOf(xs []*tensor.Tensor) []int {
	widths := make([]int, len(xs))
	for n, x := range xs {
		if x != nil && len(x.Shape()) > 1 {
			widths[n] = x.Shape()[1]
		}
	}
	return widths
}
