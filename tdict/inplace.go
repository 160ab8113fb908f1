package tdict

import (
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/tensor"
)

var _ plan.DenseOps[*TensorDict] = dictOps{nil}

// ExecuteInPlace implements plan.DenseOps. It copies td first.
func (td dictOps) ExecuteInPlace(p *plan.Pass) error {
	if err := p.CheckPlan(td.batch); err != nil {
		return err
	}
	if err := td.checkApart(); err != nil {
		return err
	}
	c, err := td.cloned(new(plan.Pass))
	if err != nil {
		return err
	}
	return c.Ops().ExecuteInto(p, td.TensorDict)
}

// checkApart returns ErrOverlap if two tensors among the leaves and the members of leaves share
// memory. The same tensor may be there twice.
func (td *TensorDict) checkApart() error {
	seen := map[*tensor.Tensor]bool{}
	var all []*tensor.Tensor
	add := func(v Value) {
		if t, ok := v.(*tensor.Tensor); ok && !seen[t] {
			seen[t] = true
			all = append(all, t)
		}
	}
	for _, v := range td.Leaves() {
		eachMember(v, add)
	}
	return tensor.CheckApart(all, nil)
}

// cloned is Clone, except that it shares values which operations return unchanged.
func (td *TensorDict) cloned(p *plan.Pass) (*TensorDict, error) {
	entries, name, err := td.entries.mapped(func(_ column, v Value) (Value, error) {
		if d, ok := v.(*TensorDict); ok {
			return asValue(d.cloned(p))
		}
		if k := opsOf(v); !k.passes(v) {
			return k.clone(v, p)
		}
		return v, nil
	})
	if err != nil {
		return nil, within("clone", name, err)
	}
	return &TensorDict{batch: td.batch, entries: entries}, nil
}
