package plan

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/shape"
)

// Window plans to cut a window out of each row, where rows are numbered by the first rank dims.
// Each row has its own start along each of the given dims:
//
//	[N... L F...], starts [N...] -> [N... size F...]
//	[N... C H W], two dims, starts [N... 2] -> [N... C h w]
//
// starts is row-major: the starts of the first row along each dim, then of the second row, and so
// on. The result is a copy; a write through the plan sets the windows.
//
// Window returns [shape.ErrDim] if rank is not positive, or if a dim is among the row dims or named
// twice; [shape.ErrShape] unless there is a start for each row and dim and a size for each dim; and
// [shape.ErrIndex], with the row, if a window leaves its dim.
func Window(s shape.Shape, rank int, starts, dims, sizes []int) (*Plan, error) {
	cut, err := windowDims(s, rank, dims, sizes)
	if err != nil {
		return nil, err
	}
	n := s[:rank].Size()
	if len(cut) == 0 || n > len(starts) || len(starts) != n*len(cut) {
		return nil, fmt.Errorf("%w: got %d starts, want one for each of %d rows and %d dims",
			shape.ErrShape, len(starts), n, len(cut))
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
		shift, err := shiftAlong(s, dim, sizes[i], starts, i, len(cut), n)
		if err != nil {
			return nil, err
		}
		k.shifts = append(k.shifts, shift)
	}
	p := box(s, make([]int, len(s)), to)
	p.pick, p.to = k, to
	return p, nil
}

// windowDims resolves the dims of windows.
func windowDims(s shape.Shape, rank int, dims, sizes []int) ([]int, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if rank <= 0 || rank > len(s) {
		return nil, fmt.Errorf("%w: got starts for the first %d dims of %v, want starts for 1 to %d dims",
			shape.ErrDim, rank, s, len(s))
	}
	if len(sizes) != len(dims) {
		return nil, fmt.Errorf("%w: got sizes %v, want one for each of the dims %v", shape.ErrShape, sizes, dims)
	}
	cut := make([]int, 0, len(dims))
	for _, dim := range dims {
		at, err := s.Dim(dim)
		if err != nil {
			return nil, err
		}
		if at < rank || slices.Contains(cut, at) {
			return nil, fmt.Errorf("%w: got windows along dims %v of %v, want each once and after the first %d",
				shape.ErrDim, dims, s, rank)
		}
		cut = append(cut, at)
	}
	return cut, nil
}

// shiftAlong returns the starts of the windows of n rows along a dim: starts[from+i*step] for row
// i.
func shiftAlong(s shape.Shape, dim, size int, starts []int, from, step, n int) (shift, error) {
	if size < 0 || size > s[dim] {
		return shift{}, fmt.Errorf("%w: got windows of size %d of dim %d, want 0 to %d",
			shape.ErrIndex, size, dim, s[dim])
	}
	out := make([]int, n)
	for i := range out {
		start := starts[from+i*step]
		if start < 0 || start > s[dim]-size {
			return shift{}, fmt.Errorf("%w: row %d: got start %d for a window of size %d in dim %d of size %d, want 0 to %d",
				shape.ErrIndex, i, start, size, dim, s[dim], s[dim]-size)
		}
		out[i] = start
	}
	return shift{dim, out}, nil
}
