package tdict

import (
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/tensor"
)

// Gather returns, at each position of an integer tensor, the row of td that index names along a
// batch dim; features follow:
//
//	td [A N B], index [A' M B'] -> [A' M B'], out[a m b] = td[a index[a m b] b]
//
// index has td's batch dims, of which those other than dim may be smaller; negative positions count
// from the end. The result is a copy. It returns shapeops.ErrDim, shapeops.ErrShape,
// shapeops.ErrIndex and the errors of tensor.Tensor.Ints.
func (td *TensorDict) Gather(dim int, index *tensor.Tensor) (*TensorDict, error) {
	p, err := plan.GatherBy(td.batch, dim, index)
	return td.executed("gather", p, err)
}

// GatherInto is [TensorDict.Gather] into a dictionary that the caller owns, as
// [TensorDict.IndexInto] is; on an error nothing has changed.
func (td *TensorDict) GatherInto(dst *TensorDict, dim int, index *tensor.Tensor) error {
	p, err := plan.GatherBy(td.batch, dim, index)
	return td.executedInto("gather", dst, p, err)
}

// Scatter undoes [TensorDict.Gather]: it writes the leaves of src, whose batch shape is that of
// index or its last dims, to the rows of td's that Gather would take. Where index names one twice,
// the last stays. Leaves that src lacks keep their values. Its errors are also those of
// [TensorDict.SetIndex]; on an error nothing has changed.
func (td *TensorDict) Scatter(dim int, index *tensor.Tensor, src *TensorDict) error {
	p, err := plan.GatherBy(td.batch, dim, index)
	return td.written("scatter", src, p, err)
}

// written writes src to the part of td that a plan selects.
func (td *TensorDict) written(op string, src *TensorDict, p *plan.Plan, err error) error {
	if err != nil {
		return failed(op, err)
	}
	var tr tensor.Transfer
	if err := td.Ops().AddWrite(&tr, src, plan.NewPass(p)); err != nil {
		return failed(op, err)
	}
	return failed(op, tr.Run())
}

// Take returns the positions of a batch dim that an integer tensor lists, in its arrangement:
//
//	td [A N B], index [I...] -> [A I... B]
//
// The result is a copy. It returns shapeops.ErrDim, shapeops.ErrShape, shapeops.ErrIndex and the
// errors of tensor.Tensor.Ints.
func (td *TensorDict) Take(dim int, index *tensor.Tensor) (*TensorDict, error) {
	p, err := plan.TakeBy(td.batch, dim, index)
	return td.executed("take", p, err)
}

// TakeInto is [TensorDict.Take] into a dictionary that the caller owns, as [TensorDict.IndexInto]
// is; on an error nothing has changed.
func (td *TensorDict) TakeInto(dst *TensorDict, dim int, index *tensor.Tensor) error {
	p, err := plan.TakeBy(td.batch, dim, index)
	return td.executedInto("take", dst, p, err)
}

// MaskedSelect returns the rows of td where a bool tensor over its leading batch dims is true:
//
//	td [M... B...], mask [M...] -> [n B...], n being how often mask is true
//
// The result is a copy. It returns tensor.ErrDType if mask is not bool, and shapeops.ErrIndex if
// the batch shape does not begin with that of mask.
func (td *TensorDict) MaskedSelect(mask *tensor.Tensor) (*TensorDict, error) {
	x, err := mask.AsMask()
	if err != nil {
		return nil, failed("masked select", err)
	}
	p, err := plan.Index(td.batch, x)
	return td.executed("masked select", p, err)
}
