package tensor

import "github.com/go-tensordict/tensordict/internal/plan"

// Reshape returns the elements of t, in their order, in another shape; one size may be
// shape.Infer. The result shares t's memory where strides allow, otherwise it is a copy. It
// returns shape.ErrShape if the number of elements differs.
func (t *Tensor) Reshape(sizes ...int) (*Tensor, error) {
	p, err := plan.Reshape(t.view.Shape, sizes...)
	return t.executed("reshape", p, err)
}

// Flatten joins dims first to last into one: [A first... last B] -> [A N B]. The result shares t's
// memory where strides allow, otherwise it is a copy. It returns shape.ErrDim if t has no such
// dims or last is before first.
func (t *Tensor) Flatten(first, last int) (*Tensor, error) {
	p, err := plan.Flatten(t.view.Shape, first, last)
	return t.executed("flatten", p, err)
}

// Unflatten splits a dim into several: [A N B] -> [A sizes... B]. The result shares t's memory. It
// returns shape.ErrDim if t has no such dim, and shape.ErrShape if the product of sizes is
// not N.
func (t *Tensor) Unflatten(dim int, sizes ...int) (*Tensor, error) {
	p, err := plan.Unflatten(t.view.Shape, dim, sizes...)
	return t.executed("unflatten", p, err)
}

// Permute reorders the dims: dim i of the result is dim dims[i] of t. The result shares t's memory.
// It returns shape.ErrDim if dims is not a permutation of t's dims.
func (t *Tensor) Permute(dims ...int) (*Tensor, error) {
	p, err := plan.Permute(t.view.Shape, dims...)
	return t.executed("permute", p, err)
}

// Transpose swaps two dims. The result shares t's memory. It returns shape.ErrDim if t lacks one
// of them.
func (t *Tensor) Transpose(a, b int) (*Tensor, error) {
	p, err := plan.Transpose(t.view.Shape, a, b)
	return t.executed("transpose", p, err)
}

// Squeeze drops the given dims where they have size 1, or all dims of size 1 if none is given. The
// result shares t's memory. It returns shape.ErrDim if t has no such dim.
func (t *Tensor) Squeeze(dims ...int) (*Tensor, error) {
	p, err := plan.Squeeze(t.view.Shape, dims...)
	return t.executed("squeeze", p, err)
}

// Unsqueeze inserts a dim of size 1 at index dim of the result. The result shares t's memory. It
// returns shape.ErrDim if the result has no such dim.
func (t *Tensor) Unsqueeze(dim int) (*Tensor, error) {
	p, err := plan.Unsqueeze(t.view.Shape, dim)
	return t.executed("unsqueeze", p, err)
}

// Expand repeats t to the given shape, aligned at the last dim. The result shares t's memory; since
// its elements repeat, it cannot be written. It returns shape.ErrShape if t does not broadcast
// to the shape.
func (t *Tensor) Expand(sizes ...int) (*Tensor, error) {
	p, err := plan.Expand(t.view.Shape, sizes...)
	return t.executed("expand", p, err)
}

// Movedim moves a dim to another index; the other dims keep their order. The result shares t's
// memory. It returns shape.ErrDim if t lacks one of the dims.
func (t *Tensor) Movedim(from, to int) (*Tensor, error) {
	p, err := plan.Movedim(t.view.Shape, from, to)
	return t.executed("movedim", p, err)
}

// Narrow keeps n positions of a dim, from start on: [A N B] -> [A n B]. The result shares t's
// memory. It returns shape.ErrDim if t has no such dim, and shape.ErrIndex if the dim has no
// such positions.
func (t *Tensor) Narrow(dim, start, n int) (*Tensor, error) {
	p, err := plan.Narrow(t.view.Shape, dim, start, n)
	return t.executed("narrow", p, err)
}
