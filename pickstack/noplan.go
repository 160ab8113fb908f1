package pickstack

import (
	"fmt"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// Pick is [Plan.Forward] of the plan that [NewPick] makes of indices for xs. A loop should make the
// plan once and keep it.
//
//	xs[n] [B P_n C_n], indices[n] [A] or nil -> [B A sum(C_n)]
func Pick(xs, indices []*tensor.Tensor) (*tensor.Tensor, error) {
	p, err := pickFor(xs, indices)
	if err != nil {
		return nil, err
	}
	return p.Forward(xs...)
}

// PickGradient is [Plan.Gradient] of the plan that [NewPick] makes of indices for xs.
//
//	g [B A sum(C_n)], xs[n] [B P_n C_n], indices[n] [A] or nil -> dxs[n] [B P_n C_n]
func PickGradient(g *tensor.Tensor, xs, indices []*tensor.Tensor) ([]*tensor.Tensor, error) {
	p, err := pickFor(xs, indices)
	if err != nil {
		return nil, err
	}
	return p.Gradient(g, xs...)
}

// Pool is [Plan.Forward] of the plan that [NewPool] makes of pools for xs. A loop should make the
// plan once and keep it.
//
//	xs[n] [B P_n C_n], pools[n] [A *] or nil -> [B A sum(C_n)]
func Pool(xs []*tensor.Tensor, pools []*ragged.Tensor, opt PoolOptions) (*tensor.Tensor, error) {
	p, err := poolFor(xs, pools, opt)
	if err != nil {
		return nil, err
	}
	return p.Forward(xs...)
}

// PoolGradient is [Plan.Gradient] of the plan that [NewPool] makes of pools for xs.
//
//	g [B A sum(C_n)], xs[n] [B P_n C_n], pools[n] [A *] or nil -> dxs[n] [B P_n C_n]
func PoolGradient(g *tensor.Tensor, xs []*tensor.Tensor, pools []*ragged.Tensor, opt PoolOptions) ([]*tensor.Tensor, error) {
	p, err := poolFor(xs, pools, opt)
	if err != nil {
		return nil, err
	}
	return p.Gradient(g, xs...)
}

func pickFor(xs, indices []*tensor.Tensor) (*Plan, error) {
	widths, err := widthsOf(xs)
	if err != nil {
		return nil, fmt.Errorf("pick: %w", err)
	}
	return NewPick(indices, widths, PickOptions{})
}

func poolFor(xs []*tensor.Tensor, pools []*ragged.Tensor, opt PoolOptions) (*Plan, error) {
	widths, err := widthsOf(xs)
	if err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	return NewPool(pools, widths, opt)
}

// widthsOf returns the number of rows of each input.
func widthsOf(xs []*tensor.Tensor) ([]int, error) {
	widths := make([]int, len(xs))
	for n, x := range xs {
		switch {
		case x == nil:
			return nil, &InputError{n, errNil}
		case len(x.Shape()) != 3:
			return nil, &InputError{n, errRank(x)}
		}
		widths[n] = x.Shape()[1]
	}
	return widths, nil
}
