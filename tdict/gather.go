package tdict

import (
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/tensor"
)

// Gather returns rows of td, one for each element of index, a tensor of integers. An element of
// index is the number of a row along the batch dim dim. Along the other batch dims, the row has the
// same position as the element. The result has the row at the position of the element, as with
// torch.gather. Features stay together:
//
//	td [A N B], index [A' M B'] -> [A' M B'], out[a m b] = td[a index[a m b] b]
//
// index has as many dims as td's batch shape. Dims other than dim may be smaller than td's.
// Negative row numbers count from the end. The result is a copy. Gather returns shapeops.ErrDim if
// dim is out of range, shapeops.ErrShape if the shape of index does not fit, shapeops.ErrIndex if a
// row number is out of range, [ErrKind] if index is nil, and the errors of tensor.Tensor.Ints.
func (td *TensorDict) Gather(dim int, index *tensor.Tensor) (*TensorDict, error) {
	p, err := plan.GatherBy(td.batch, dim, index)
	return td.executed("gather", p, err)
}

// GatherInto is [TensorDict.Gather] into a dictionary that the caller owns, with the rules of
// [TensorDict.IndexInto]. On an error nothing has changed.
func (td *TensorDict) GatherInto(dst *TensorDict, dim int, index *tensor.Tensor) error {
	p, err := plan.GatherBy(td.batch, dim, index)
	return td.executedInto("gather", dst, p, err)
}

// Scatter is the reverse of [TensorDict.Gather]: it writes each row of src to the row of td that
// Gather reads with the same dim and index. The batch shape of src must be the shape of index or a
// suffix of it. If index has a row number twice, the last write wins. Leaves that src lacks keep
// their values. Scatter returns the errors of Gather and of [TensorDict.SetIndex]; on an error
// nothing has changed.
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

// Take selects, along batch dim dim, the rows whose numbers are in index, an integer tensor. The
// dims of index replace dim, as in numpy.take:
//
//	td [A N B], index [I...] -> [A I... B]
//
// The result is a copy. Take returns shapeops.ErrDim if dim is out of range, shapeops.ErrShape if
// the batch shape of the result is too large, shapeops.ErrIndex if a row number is out of range,
// [ErrKind] if index is nil, and the errors of tensor.Tensor.Ints.
func (td *TensorDict) Take(dim int, index *tensor.Tensor) (*TensorDict, error) {
	p, err := plan.TakeBy(td.batch, dim, index)
	return td.executed("take", p, err)
}

// TakeInto is [TensorDict.Take] into a dictionary that the caller owns, with the rules of
// [TensorDict.IndexInto]. On an error nothing has changed.
func (td *TensorDict) TakeInto(dst *TensorDict, dim int, index *tensor.Tensor) error {
	p, err := plan.TakeBy(td.batch, dim, index)
	return td.executedInto("take", dst, p, err)
}

// MaskedSelect returns the rows of td where a bool tensor over its leading batch dims is true:
//
//	td [M... B...], mask [M...] -> [n B...], where n is the number of true elements of mask
//
// The result is a copy. MaskedSelect returns tensor.ErrDType if mask is not bool, and
// shapeops.ErrIndex if the batch shape does not begin with the shape of mask.
func (td *TensorDict) MaskedSelect(mask *tensor.Tensor) (*TensorDict, error) {
	x, err := mask.AsMask()
	if err != nil {
		return nil, failed("masked select", err)
	}
	p, err := plan.Index(td.batch, x)
	return td.executed("masked select", p, err)
}
