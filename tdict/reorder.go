package tdict

import (
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/tensor"
)

// Flip returns a copy of td with the order of positions reversed along the given batch dims, or
// along all if none is given. It returns shapeops.ErrDim.
func (td *TensorDict) Flip(dims ...int) (*TensorDict, error) {
	p, err := plan.Flip(td.batch, dims...)
	return td.executed("flip", p, err)
}

// FlipInto is [TensorDict.Flip] into a dictionary that the caller owns, as [TensorDict.IndexInto]
// is; on an error nothing has changed.
func (td *TensorDict) FlipInto(dst *TensorDict, dims ...int) error {
	p, err := plan.Flip(td.batch, dims...)
	return td.executedInto("flip", dst, p, err)
}

// FlipInPlace is [TensorDict.Flip] of td itself: of the elements of its leaves, which a locked
// dictionary allows, by way of a copy. On an error nothing has changed.
func (td *TensorDict) FlipInPlace(dims ...int) error {
	p, err := plan.Flip(td.batch, dims...)
	return td.reorderInPlace("flip", p, err)
}

// Roll returns a copy of td with each position of a batch dim moved so many places on; those that
// leave it at the end come back at its beginning. A negative shift goes the other way. Its errors
// are those of shapeops.Shape.Roll.
func (td *TensorDict) Roll(shift, dim int) (*TensorDict, error) {
	p, err := plan.Roll(td.batch, shift, dim)
	return td.executed("roll", p, err)
}

// RollInto is [TensorDict.Roll] into a dictionary that the caller owns, as [TensorDict.IndexInto]
// is; on an error nothing has changed.
func (td *TensorDict) RollInto(dst *TensorDict, shift, dim int) error {
	p, err := plan.Roll(td.batch, shift, dim)
	return td.executedInto("roll", dst, p, err)
}

// RollInPlace is [TensorDict.Roll] of td itself: of the elements of its leaves, which a locked
// dictionary allows, by way of a copy. On an error nothing has changed.
func (td *TensorDict) RollInPlace(shift, dim int) error {
	p, err := plan.Roll(td.batch, shift, dim)
	return td.reorderInPlace("roll", p, err)
}

// Rot90 returns a copy of td with the plane of two batch dims turned by so many quarters, from the
// first dim towards the second. Its errors are those of shapeops.Shape.Rot90.
func (td *TensorDict) Rot90(quarters, first, second int) (*TensorDict, error) {
	p, err := plan.Rot90(td.batch, quarters, first, second)
	return td.executed("rot90", p, err)
}

// Rot90Into is [TensorDict.Rot90] into a dictionary that the caller owns, as [TensorDict.IndexInto]
// is; on an error nothing has changed.
func (td *TensorDict) Rot90Into(dst *TensorDict, quarters, first, second int) error {
	p, err := plan.Rot90(td.batch, quarters, first, second)
	return td.executedInto("rot90", dst, p, err)
}

// reorderInPlace does an operation that keeps the batch shape on td itself, by way of a copy.
func (td *TensorDict) reorderInPlace(op string, p *plan.Plan, err error) error {
	if err != nil {
		return failed(op, err)
	}
	if err := td.checkApart(); err != nil {
		return failed(op, err)
	}
	c, err := td.cloned(new(plan.Pass))
	if err != nil {
		return failed(op, err)
	}
	return c.executedInto(op, td, p, nil)
}

// checkApart returns ErrOverlap if two tensors among the leaves share memory; one may be there
// twice.
func (td *TensorDict) checkApart() error {
	seen := map[*tensor.Tensor]bool{}
	var all []*tensor.Tensor
	for _, t := range td.Tensors() {
		if !seen[t] {
			seen[t] = true
			all = append(all, t)
		}
	}
	return tensor.CheckApart(all, nil)
}

// cloned is Clone that shares values which operations pass through as they are.
func (td *TensorDict) cloned(p *plan.Pass) (*TensorDict, error) {
	entries, name, err := td.entries.mapped(func(_ column, v Value) (Value, error) {
		if d, ok := asDict(v); ok {
			return some(d.cloned(p))
		}
		if k := opsOf(v); !k.passes() {
			return k.clone(v, p)
		}
		return v, nil
	})
	if err != nil {
		return nil, within("clone", name, err)
	}
	return &TensorDict{batch: td.batch, entries: entries}, nil
}
