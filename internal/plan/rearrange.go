package plan

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/shape"
)

// Reshape plans to arrange the elements of s, in their order, in another shape. One size may be
// [shape.Infer], unless s has no element. It returns [shape.ErrShape] if the number of elements
// differs.
func Reshape(s shape.Shape, sizes ...int) (*Plan, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	to, err := infer(s.Size(), sizes, s.String())
	if err != nil {
		return nil, err
	}
	if to.Equal(s) {
		return whole(s), nil
	}
	p := newPlan(s)
	p.mid, p.reshape = to, true
	return p.done(), nil
}

// infer returns sizes with Infer, if it occurs, replaced by the size that makes n elements. what
// names the elements in errors.
func infer(n int, sizes shape.Shape, what string) (shape.Shape, error) {
	to, missing := sizes.Clone(), -1
	for i, size := range to {
		if size != shape.Infer {
			continue
		}
		if missing >= 0 {
			return nil, fmt.Errorf("%w: got %v, want at most one size %d", shape.ErrShape, sizes, shape.Infer)
		}
		missing, to[i] = i, 1
	}
	if err := to.Check(); err != nil {
		return nil, err
	}
	if known := to.Size(); missing >= 0 && n > 0 && known > 0 && n%known == 0 {
		to[missing] = n / known
		return to, nil
	}
	if missing >= 0 || to.Size() != n {
		return nil, fmt.Errorf("%w: got %v, want %d elements as in %s", shape.ErrShape, sizes, n, what)
	}
	return to, nil
}

// Flatten plans to join the dims first to last, both included, into one:
//
//	[A first... last B] -> [A first*...*last B]
//
// It returns [shape.ErrDim] if s has no such dims or last is before first.
func Flatten(s shape.Shape, first, last int) (*Plan, error) {
	i, err := s.Dim(first)
	if err != nil {
		return nil, err
	}
	j, err := s.Dim(last)
	if err != nil {
		return nil, err
	}
	if j < i {
		return nil, fmt.Errorf("%w: got dims %d to %d of shape %v, want the first before the last", shape.ErrDim, first, last, s)
	}
	p, err := Reshape(s, slices.Concat(s[:i], shape.Shape{s[i : j+1].Size()}, s[j+1:])...)
	return p.placed(i, 1), err
}

// Unflatten plans to split a dim into several: [A N B] -> [A sizes... B]. One size may be
// [shape.Infer], unless N is 0. It returns [shape.ErrDim] if s has no such dim and [shape.ErrShape]
// if the product of sizes is not N.
func Unflatten(s shape.Shape, dim int, sizes ...int) (*Plan, error) {
	i, err := s.Dim(dim)
	if err != nil {
		return nil, err
	}
	cut, err := infer(s[i], sizes, fmt.Sprintf("dim %d of %v", dim, s))
	if err != nil {
		return nil, err
	}
	p, err := Reshape(s, slices.Concat(s[:i], cut, s[i+1:])...)
	return p.placed(i, len(cut)), err
}

// placed sets the origins of a reshape that makes n new dims from dim at on and keeps the others.
func (p *Plan) placed(at, n int) *Plan {
	if p == nil || !p.reshape {
		return p
	}
	p.origins = make([]int, len(p.to))
	for i := range p.to {
		switch {
		case i < at:
			p.origins[i] = i
		case i < at+n:
			p.origins[i] = noDim
		default:
			p.origins[i] = i + len(p.from) - len(p.to)
		}
	}
	return p
}

// Permute plans to reorder the dims: result dim i is dim dims[i] of s. It returns [shape.ErrDim] if
// dims is not a permutation of the dims of s.
func Permute(s shape.Shape, dims ...int) (*Plan, error) {
	if len(dims) != len(s) {
		return nil, fmt.Errorf("%w: got dims %v of shape %v, want each of its dims once", shape.ErrDim, dims, s)
	}
	p := newPlan(s)
	seen := make([]bool, len(s))
	for _, dim := range dims {
		i, err := s.Dim(dim)
		if err != nil {
			return nil, err
		}
		if seen[i] {
			return nil, fmt.Errorf("%w: got dims %v of shape %v, want each of its dims once", shape.ErrDim, dims, s)
		}
		seen[i] = true
		p.keep(i)
	}
	return p.done(), nil
}

// Transpose plans to swap two dims. It returns [shape.ErrDim] if s lacks one of them.
func Transpose(s shape.Shape, a, b int) (*Plan, error) {
	i, err := s.Dim(a)
	if err != nil {
		return nil, err
	}
	j, err := s.Dim(b)
	if err != nil {
		return nil, err
	}
	dims := make([]int, len(s))
	for k := range dims {
		dims[k] = k
	}
	dims[i], dims[j] = j, i
	return Permute(s, dims...)
}

// Squeeze plans to drop dims of size 1: the given dims, or all if none is given. A given dim of
// another size stays, as in torch. It returns [shape.ErrDim] if s has no such dim.
func Squeeze(s shape.Shape, dims ...int) (*Plan, error) {
	drop := make([]bool, len(s))
	for i := range s {
		drop[i] = len(dims) == 0
	}
	for _, dim := range dims {
		i, err := s.Dim(dim)
		if err != nil {
			return nil, err
		}
		drop[i] = true
	}
	p := newPlan(s)
	for i, size := range s {
		if !drop[i] || size != 1 {
			p.keep(i)
		}
	}
	return p.done(), nil
}

// Unsqueeze plans to add a dim of size 1 that becomes dim dim of the result: Unsqueeze(-1) adds it
// last. It returns [shape.ErrDim] if the result has no such dim.
func Unsqueeze(s shape.Shape, dim int) (*Plan, error) {
	at, err := newDim(s, dim)
	if err != nil {
		return nil, err
	}
	p := newPlan(s)
	for i := range s {
		if i == at {
			p.add(1)
		}
		p.keep(i)
	}
	if at == len(s) {
		p.add(1)
	}
	return p.done(), nil
}

// Expand plans to repeat elements, without a copy, until s has the given sizes. The shapes are
// aligned at their last dims; dims of size 1 grow and new dims come first. [shape.Infer] keeps a
// dim. It returns [shape.ErrShape] if s does not broadcast to sizes.
func Expand(s shape.Shape, sizes ...int) (*Plan, error) {
	extra := len(sizes) - len(s)
	if extra < 0 {
		return nil, fmt.Errorf("%w: %v does not broadcast to %v: it has more dims", shape.ErrShape, s, shape.Shape(sizes))
	}
	p := newPlan(s)
	for i, size := range sizes {
		switch {
		case i < extra:
			p.add(size)
		case size == shape.Infer || size == s[i-extra]:
			p.keep(i - extra)
		case s[i-extra] == 1:
			p.step(i-extra, size, 0)
		default:
			return nil, fmt.Errorf("%w: %v does not broadcast to %v", shape.ErrShape, s, shape.Shape(sizes))
		}
	}
	if err := p.mid.Check(); err != nil {
		return nil, err
	}
	return p.done(), nil
}

// Movedim plans to move a dim to another position; the others keep their order. It returns
// [shape.ErrDim] if s lacks one of the dims.
func Movedim(s shape.Shape, from, to int) (*Plan, error) {
	i, err := s.Dim(from)
	if err != nil {
		return nil, err
	}
	j, err := s.Dim(to)
	if err != nil {
		return nil, err
	}
	dims := make([]int, len(s))
	for k := range dims {
		dims[k] = k
	}
	dims = slices.Delete(dims, i, i+1)
	return Permute(s, slices.Insert(dims, j, i)...)
}

// maxDims is the largest number of dims that AtLeast adds up to.
const maxDims = 1 << 10

// AtLeast plans to insert dims of size 1 before the others until there are n dims. A shape of n
// dims or more is kept. It returns [shape.ErrDim] if n is more than 1024.
func AtLeast(s shape.Shape, n int) (*Plan, error) {
	if n > maxDims {
		return nil, fmt.Errorf("%w: got %d dims, want at most %d", shape.ErrDim, n, maxDims)
	}
	p := newPlan(s)
	for i := len(s); i < n; i++ {
		p.add(1)
	}
	for dim := range s {
		p.keep(dim)
	}
	return p.done(), nil
}

// Narrow plans to keep n positions of a dim, from start on; a negative start counts from the end.
// Unlike a range it is not clamped: it returns [shape.ErrIndex] if the positions are out of range,
// and [shape.ErrDim] if s has no such dim.
func Narrow(s shape.Shape, dim, start, n int) (*Plan, error) {
	at, err := s.Dim(dim)
	if err != nil {
		return nil, err
	}
	from := start
	if start < 0 {
		from += s[at]
	}
	if n < 0 || from < 0 || from > s[at] || n > s[at]-from {
		return nil, fmt.Errorf("%w: got %d positions from %d of dim %d, want positions within its size %d", shape.ErrIndex, n, start, dim, s[at])
	}
	kept := part(s, at, from, n)
	return box(s, kept.starts, kept.sizes), nil
}

// Unfold plans to cut a dim into all windows of a size, each step positions after the one before:
//
//	[A N B] -> [A M size B], M = (N-size)/step + 1
//
// Positions after the last window are left out. Windows that overlap share elements, so they cannot
// be written to. It returns [shape.ErrDim] if s has no such dim, [shape.ErrIndex] if a window is
// larger than the dim, and [shape.ErrShape] if size or step is not positive.
func Unfold(s shape.Shape, dim, size, step int) (*Plan, error) {
	at, err := s.Dim(dim)
	switch {
	case err != nil:
		return nil, err
	case size <= 0 || step <= 0:
		return nil, fmt.Errorf("%w: got windows of size %d and step %d, want both positive", shape.ErrShape, size, step)
	case size > s[at]:
		return nil, fmt.Errorf("%w: got windows of size %d of dim %d, want at most its size %d", shape.ErrIndex, size, dim, s[at])
	}
	p := newPlan(s)
	for d := range s {
		if d != at {
			p.keep(d)
			continue
		}
		p.windows(d, size, step)
	}
	if err := p.mid.Check(); err != nil {
		return nil, err
	}
	return p.done(), nil
}

// windows appends a dim for the windows and a dim for the positions in a window.
func (p *Plan) windows(dim, size, step int) {
	n := (p.from[dim]-size)/step + 1
	if n == 1 {
		step = 1
	}
	p.step(dim, n, step)
	p.step(dim, size, 1)
}

// newDim resolves a dim of a shape that has one dim more than s.
func newDim(s shape.Shape, dim int) (int, error) {
	if dim < -len(s)-1 || dim > len(s) {
		return 0, fmt.Errorf("%w: got dim %d for a new dim of shape %v, want %d to %d", shape.ErrDim, dim, s, -len(s)-1, len(s))
	}
	if dim < 0 {
		dim += len(s) + 1
	}
	return dim, nil
}
