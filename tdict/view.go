package tdict

import "github.com/go-tensordict/tensordict/internal/plan"

// Reshape returns td with a new batch shape, which has the same positions in row-major order. One
// size may be shapeops.Infer. A leaf shares td's memory if its strides allow; otherwise it is a
// copy. Reshape returns shapeops.ErrShape if the number of positions differs.
func (td *TensorDict) Reshape(sizes ...int) (*TensorDict, error) {
	p, err := plan.Reshape(td.batch, sizes...)
	return td.executed("reshape", p, err)
}

// Flatten returns td with batch dims first to last joined into one: [A first... last B] -> [A N B].
// A leaf shares td's memory if its strides allow; otherwise it is a copy. Flatten returns
// shapeops.ErrDim if a dim is out of range or last is before first.
func (td *TensorDict) Flatten(first, last int) (*TensorDict, error) {
	p, err := plan.Flatten(td.batch, first, last)
	return td.executed("flatten", p, err)
}

// Unflatten returns td with a batch dim cut into several: [A N B] -> [A sizes... B]. Leaves share
// td's memory. Unflatten returns shapeops.ErrDim if dim is out of range, and shapeops.ErrShape if
// the product of sizes is not the size of the dim.
func (td *TensorDict) Unflatten(dim int, sizes ...int) (*TensorDict, error) {
	p, err := plan.Unflatten(td.batch, dim, sizes...)
	return td.executed("unflatten", p, err)
}

// Permute returns td with its batch dims in another order: batch dim i of the result is dim dims[i]
// of td. Leaves share td's memory. Permute returns shapeops.ErrDim if dims is not a permutation.
func (td *TensorDict) Permute(dims ...int) (*TensorDict, error) {
	p, err := plan.Permute(td.batch, dims...)
	return td.executed("permute", p, err)
}

// Transpose returns td with two batch dims swapped. Leaves share td's memory. It returns
// shapeops.ErrDim if a or b is out of range.
func (td *TensorDict) Transpose(a, b int) (*TensorDict, error) {
	p, err := plan.Transpose(td.batch, a, b)
	return td.executed("transpose", p, err)
}

// Squeeze removes the given batch dims that have size 1; dims of other sizes stay. If no dims are
// given, it removes all batch dims of size 1. Leaves share td's memory. Squeeze returns
// shapeops.ErrDim if a dim is out of range.
func (td *TensorDict) Squeeze(dims ...int) (*TensorDict, error) {
	p, err := plan.Squeeze(td.batch, dims...)
	return td.executed("squeeze", p, err)
}

// Unsqueeze returns td with a batch dim of size 1 added at position dim of the result. Leaves share
// td's memory. Unsqueeze returns shapeops.ErrDim if the result has no dim dim.
func (td *TensorDict) Unsqueeze(dim int) (*TensorDict, error) {
	p, err := plan.Unsqueeze(td.batch, dim)
	return td.executed("unsqueeze", p, err)
}

// Expand broadcasts td to the given batch shape; the shapes are aligned at their last dims, as in
// NumPy. Leaves share td's memory. They cannot be written to, since they repeat elements. Expand
// returns shapeops.ErrShape if td's batch shape does not broadcast to sizes.
func (td *TensorDict) Expand(sizes ...int) (*TensorDict, error) {
	p, err := plan.Expand(td.batch, sizes...)
	return td.executed("expand", p, err)
}

// Movedim returns td with batch dim from at position to. The other dims keep their order. Leaves
// share td's memory. Movedim returns shapeops.ErrDim if from or to is out of range.
func (td *TensorDict) Movedim(from, to int) (*TensorDict, error) {
	p, err := plan.Movedim(td.batch, from, to)
	return td.executed("movedim", p, err)
}

// Narrow returns n positions of a batch dim, beginning at start: [A N B] -> [A n B]. Leaves share
// td's memory. Narrow returns shapeops.ErrDim if dim is out of range, and shapeops.ErrIndex if a
// position is.
func (td *TensorDict) Narrow(dim, start, n int) (*TensorDict, error) {
	p, err := plan.Narrow(td.batch, dim, start, n)
	return td.executed("narrow", p, err)
}
