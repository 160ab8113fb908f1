package shapeops

import (
	"fmt"
	"slices"
)

// Infer, as one of the sizes that [Shape.Reshape] or [Shape.Unflatten] is given, is the size that
// the number of elements leaves; in [Shape.Expand] it keeps a dim as it is.
const Infer = -1

// Reshape plans to arrange the elements of s, in their order, in another shape. One size may be
// [Infer], unless s has no element. It returns [ErrShape] if the number of elements differs.
func (s Shape) Reshape(sizes ...int) (*Plan, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	to, err := infer(s.Size(), sizes, s.String())
	if err != nil {
		return nil, err
	}
	if to.Equal(s) {
		return s.whole(), nil
	}
	p := newPlan(s)
	p.mid, p.reshape = to, true
	return p.done(), nil
}

// infer returns sizes with the one that is Infer, if any, replaced by what makes n elements of
// them, those of what.
func infer(n int, sizes Shape, what string) (Shape, error) {
	to, missing := sizes.Clone(), -1
	for i, size := range to {
		if size != Infer {
			continue
		}
		if missing >= 0 {
			return nil, fmt.Errorf("%w: got %v, want at most one size %d", ErrShape, sizes, Infer)
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
		return nil, fmt.Errorf("%w: got %v, want the %d elements of %s", ErrShape, sizes, n, what)
	}
	return to, nil
}

// Flatten plans to join the dims first to last, both included, into one:
//
//	[A first... last B] -> [A first*...*last B]
//
// It returns [ErrDim] if s has no such dims or last comes before first.
func (s Shape) Flatten(first, last int) (*Plan, error) {
	i, err := s.Dim(first)
	if err != nil {
		return nil, err
	}
	j, err := s.Dim(last)
	if err != nil {
		return nil, err
	}
	if j < i {
		return nil, fmt.Errorf("%w: got dims %d to %d of a shape %v, want the first before the last", ErrDim, first, last, s)
	}
	p, err := s.Reshape(slices.Concat(s[:i], Shape{s[i : j+1].Size()}, s[j+1:])...)
	return p.placed(i, 1), err
}

// Unflatten plans to cut a dim into several: [A N B] -> [A sizes... B]. One size may be [Infer],
// unless N is 0. It returns [ErrDim] if s has no such dim and [ErrShape] if the product of sizes is
// not N.
func (s Shape) Unflatten(dim int, sizes ...int) (*Plan, error) {
	i, err := s.Dim(dim)
	if err != nil {
		return nil, err
	}
	cut, err := infer(s[i], sizes, fmt.Sprintf("dim %d of %v", dim, s))
	if err != nil {
		return nil, err
	}
	p, err := s.Reshape(slices.Concat(s[:i], cut, s[i+1:])...)
	return p.placed(i, len(cut)), err
}

// placed notes that a reshape made so many new dims, from dim at on, and left those around them as
// they were.
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

// Permute plans to put the dims in another order: result dim i is dim dims[i] of s. It returns
// [ErrDim] if dims is not a permutation of the dims of s.
func (s Shape) Permute(dims ...int) (*Plan, error) {
	if len(dims) != len(s) {
		return nil, fmt.Errorf("%w: got a permutation %v of a shape %v, want each of its dims once", ErrDim, dims, s)
	}
	p := newPlan(s)
	seen := make([]bool, len(s))
	for _, dim := range dims {
		i, err := s.Dim(dim)
		if err != nil {
			return nil, err
		}
		if seen[i] {
			return nil, fmt.Errorf("%w: got a permutation %v of a shape %v, want each of its dims once", ErrDim, dims, s)
		}
		seen[i] = true
		p.keep(i)
	}
	return p.done(), nil
}

// Transpose plans to swap two dims. It returns [ErrDim] if s lacks one of them.
func (s Shape) Transpose(a, b int) (*Plan, error) {
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
	return s.Permute(dims...)
}

// Squeeze plans to drop dims of size 1: those given, or all if none is. A given dim of another size
// stays, as in torch. It returns [ErrDim] if s has no such dim.
func (s Shape) Squeeze(dims ...int) (*Plan, error) {
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
// last. It returns [ErrDim] if the result has no such dim.
func (s Shape) Unsqueeze(dim int) (*Plan, error) {
	at, err := s.place(dim)
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

// Expand plans to repeat elements, without a copy, until s has the given sizes: aligned at the last
// dim, dims of size 1 grow and new dims come first. [Infer] keeps a dim. It returns [ErrShape] if s
// does not broadcast to sizes.
func (s Shape) Expand(sizes ...int) (*Plan, error) {
	extra := len(sizes) - len(s)
	if extra < 0 {
		return nil, fmt.Errorf("%w: got %v, want at least the dims of %v", ErrShape, Shape(sizes), s)
	}
	p := newPlan(s)
	for i, size := range sizes {
		switch {
		case i < extra:
			p.add(size)
		case size == Infer || size == s[i-extra]:
			p.keep(i - extra)
		case s[i-extra] == 1:
			p.step(i-extra, size, 0)
		default:
			return nil, fmt.Errorf("%w: %v does not expand to %v", ErrShape, s, Shape(sizes))
		}
	}
	if err := p.mid.Check(); err != nil {
		return nil, err
	}
	return p.done(), nil
}

// Movedim plans to move a dim to another place; the others keep their order. It returns [ErrDim] if
// s lacks one of the dims.
func (s Shape) Movedim(from, to int) (*Plan, error) {
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
	return s.Permute(slices.Insert(dims, j, i)...)
}

// maxDims is more dims than anybody wants.
const maxDims = 1 << 10

// AtLeast plans to add dims of size 1 before the others until there are n. A shape that has as many
// is kept. It returns [ErrDim] if n is more than 1024.
func (s Shape) AtLeast(n int) (*Plan, error) {
	if n > maxDims {
		return nil, fmt.Errorf("%w: got %d dims, want at most %d", ErrDim, n, maxDims)
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

// Narrow plans to keep n positions of a dim, from start on, which counts from the end if it is
// negative. Unlike a range, it is never cut: it returns [ErrIndex] if the dim has no such
// positions, and [ErrDim] if s has no such dim.
func (s Shape) Narrow(dim, start, n int) (*Plan, error) {
	at, err := s.Dim(dim)
	if err != nil {
		return nil, err
	}
	from := start
	if start < 0 {
		from += s[at]
	}
	if n < 0 || from < 0 || from > s[at] || n > s[at]-from {
		return nil, fmt.Errorf("%w: got %d positions from %d of dim %d, want some of its %d", ErrIndex, n, start, dim, s[at])
	}
	kept := s.part(at, from, n)
	return s.box(kept.starts, kept.sizes), nil
}

// Unfold plans to cut a dim into all windows of a size, each step positions after the one before:
//
//	[A N B] -> [A M size B], M = (N-size)/step + 1
//
// Positions after the last window are left out. Windows that overlap share elements, so that they
// cannot be written to. It returns [ErrDim] if s has no such dim, [ErrIndex] if a window is larger
// than the dim, and [ErrShape] if size or step is not positive.
func (s Shape) Unfold(dim, size, step int) (*Plan, error) {
	at, err := s.Dim(dim)
	switch {
	case err != nil:
		return nil, err
	case size <= 0 || step <= 0:
		return nil, fmt.Errorf("%w: got windows of size %d and step %d, want both positive", ErrShape, size, step)
	case size > s[at]:
		return nil, fmt.Errorf("%w: got windows of size %d of dim %d, want at most its %d", ErrIndex, size, dim, s[at])
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

// windows appends a dim of windows and one of the positions in each.
func (p *Plan) windows(dim, size, step int) {
	n := (p.from[dim]-size)/step + 1
	if n == 1 {
		step = 1
	}
	p.step(dim, n, step)
	p.step(dim, size, 1)
}
