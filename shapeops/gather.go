package shapeops

import (
	"fmt"
	"slices"
)

// Gather plans to pick, at each position of an index, the position of a dim that the index names:
//
//	s [A N B], index [A' M B'] -> [A' M B'], out[a m b] = in[a index[a m b] b]
//
// index is row-major and has the given shape, whose dims other than dim may be smaller than those
// of s; negative positions count from the end. The result is a copy; written to, a plan of Gather
// scatters. It returns [ErrDim] if s has no such dim, [ErrShape] if the shape does not fit s or
// index, and [ErrIndex], with the element of the index, if the dim has no such position.
func (s Shape) Gather(dim int, index []int, shape Shape) (*Plan, error) {
	at, err := s.gatherDim(dim, index, shape)
	if err != nil {
		return nil, err
	}
	rows, err := s.gatherRows(at, index, shape)
	if err != nil {
		return nil, err
	}
	p := s.whole()
	k := &Pick{rows: rows, shape: shape.Clone(), same: true}
	k.dims = k.few.dims[:0]
	for d := range s {
		k.dims = append(k.dims, d)
	}
	p.pick, p.to = k, k.shape.Clone()
	return p, nil
}

func (s Shape) gatherDim(dim int, index []int, shape Shape) (int, error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	at, err := s.Dim(dim)
	if err != nil {
		return 0, err
	}
	if len(shape) != len(s) {
		return 0, fmt.Errorf("%w: got an index %v, want one with the %d dims of %v", ErrShape, shape, len(s), s)
	}
	for d, n := range shape {
		if d != at && n > s[d] {
			return 0, fmt.Errorf("%w: got an index %v, want at most %v but for dim %d", ErrShape, shape, s, dim)
		}
	}
	if err := shape.Check(); err != nil {
		return 0, err
	}
	if n := shape.Size(); n != len(index) {
		return 0, fmt.Errorf("%w: got an index of %d elements, want the %d of %v", ErrShape, len(index), n, shape)
	}
	return at, nil
}

// gatherRows returns the row-major position within s of each element of an index along dim at.
func (s Shape) gatherRows(at int, index []int, shape Shape) ([]int, error) {
	strides := make([]int, len(s))
	rowMajor(strides, s)
	step := strides[at]
	strides[at] = 0
	rows, n := make([]int, len(index)), 0
	for base := range (View{Shape: shape, Strides: strides}).Offsets() {
		i := index[n]
		if uint(i) >= uint(s[at]) {
			var err error
			if i, err = element(i, n, at, s[at]); err != nil {
				return nil, err
			}
		}
		rows[n] = base + i*step
		n++
	}
	return rows, nil
}

// element resolves a position that is an element of a list.
func element(i, n, dim, size int) (int, error) {
	at, err := position(i, dim, size)
	if err != nil {
		return 0, fmt.Errorf("element %d: %w", n, err)
	}
	return at, nil
}

// Take plans to pick listed positions of a dim, in an arrangement of their own:
//
//	[A N B], list of shape [I...] -> [A I... B]
//
// list is row-major; negative positions count from the end. The result is a copy. It returns
// [ErrDim] if s has no such dim, [ErrShape] if the shape does not hold the list, and [ErrIndex],
// with the element of the list, if the dim has no such position.
func (s Shape) Take(dim int, list []int, shape Shape) (*Plan, error) {
	at, err := s.Dim(dim)
	if err != nil {
		return nil, err
	}
	if shape.Check() != nil || shape.Size() != len(list) {
		return nil, fmt.Errorf("%w: got %d positions, want those of %v", ErrShape, len(list), shape)
	}
	rows, err := positions(list, at, s[at])
	if err != nil {
		return nil, err
	}
	return s.pickRows(at, rows, shape.Clone())
}

// pickRows plans to pick listed rows of a dim, all of them within it, in an arrangement of their
// own.
func (s Shape) pickRows(at int, rows []int, shape Shape) (*Plan, error) {
	b := indexer{plan: newPlan(s)}
	for dim := range s {
		if dim == at {
			b.add(pick{dim: dim, over: b.plan.from[dim : dim+1], rows: rows, shape: shape})
		}
		b.plan.keep(dim)
	}
	return b.picked()
}

// Window plans to cut a window out of each row, the rows being the first rank dims, with a start of
// its own along each of the given dims:
//
//	[N... L F...], starts [N...] -> [N... size F...]
//	[N... C H W], two dims, starts [N... 2] -> [N... C h w]
//
// starts is row-major: the starts of the first row along each dim, those of the second, and so on.
// The result is a copy; written to, a plan of Window sets the windows. It returns [ErrDim] if rank
// is not positive or a dim is not after the rows or named twice, [ErrShape] unless there is a start
// for each row and dim and a size for each dim, and [ErrIndex], with the row, if a window leaves
// its dim.
func (s Shape) Window(rank int, starts, dims, sizes []int) (*Plan, error) {
	cut, err := s.windowDims(rank, dims, sizes)
	if err != nil {
		return nil, err
	}
	n := s[:rank].Size()
	if len(cut) == 0 || n > len(starts) || len(starts) != n*len(cut) {
		return nil, fmt.Errorf("%w: got %d starts, want one for each of %d rows and %d dims", ErrShape, len(starts), n, len(cut))
	}
	to := s.Clone()
	k := &Pick{rows: make([]int, n), shape: s[:rank].Clone(), same: true}
	for i := range k.rows {
		k.rows[i] = i
	}
	for d := range rank {
		k.dims = append(k.dims, d)
	}
	for i, dim := range cut {
		to[dim] = sizes[i]
		shift, err := s.shift(dim, sizes[i], starts, i, len(cut), n)
		if err != nil {
			return nil, err
		}
		k.shifts = append(k.shifts, shift)
	}
	p := s.box(make([]int, len(s)), to)
	p.pick, p.to = k, to
	return p, nil
}

// windowDims resolves the dims of windows.
func (s Shape) windowDims(rank int, dims, sizes []int) ([]int, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if rank <= 0 || rank > len(s) {
		return nil, fmt.Errorf("%w: got starts for the first %d dims of %v, want at least one and at most all", ErrDim, rank, s)
	}
	if len(sizes) != len(dims) {
		return nil, fmt.Errorf("%w: got sizes %v, want one for each of the dims %v", ErrShape, sizes, dims)
	}
	cut := make([]int, 0, len(dims))
	for _, dim := range dims {
		at, err := s.Dim(dim)
		if err != nil {
			return nil, err
		}
		if at < rank || slices.Contains(cut, at) {
			return nil, fmt.Errorf("%w: got windows along dims %v of %v, want each once and after the first %d", ErrDim, dims, s, rank)
		}
		cut = append(cut, at)
	}
	return cut, nil
}

// shift returns where the windows of n rows start along a dim: every step-th of starts, from one
// on.
func (s Shape) shift(dim, size int, starts []int, from, step, n int) (shift, error) {
	if size < 0 || size > s[dim] {
		return shift{}, fmt.Errorf("%w: got windows of size %d of dim %d, want at most its %d", ErrIndex, size, dim, s[dim])
	}
	out := make([]int, n)
	for i := range out {
		start := starts[from+i*step]
		if start < 0 || start > s[dim]-size {
			return shift{}, fmt.Errorf("%w: row %d: got start %d of a window of size %d of dim %d, want 0 to %d",
				ErrIndex, i, start, size, dim, s[dim]-size)
		}
		out[i] = start
	}
	return shift{dim, out}, nil
}
