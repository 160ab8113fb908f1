package shapeops

import "fmt"

// Gather plans to pick, at each position of an index, the position of a dim that the index names:
//
//	s [A N B], index [A' M B'] -> [A' M B'], out[a m b] = in[a index[a m b] b]
//
// index is row-major and has the given shape, whose dims other than dim may be smaller than those
// of s; negative positions count from the end. The result is a copy; written to, a plan of Gather
// scatters. It returns [ErrDim] if s has no such dim, [ErrShape] if the shape does not fit s or
// index, and [ErrIndex], with the element of the index, if the dim has no such position.
func (s Shape) Gather(dim int, index []int, shape Shape) (*Plan, error) {
	if err := s.CheckGather(dim, shape); err != nil {
		return nil, err
	}
	if n := shape.Size(); n != len(index) {
		return nil, fmt.Errorf("%w: got an index of %d elements, want the %d of %v", ErrShape, len(index), n, shape)
	}
	at, _ := s.Dim(dim) // which has been checked
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

// CheckGather returns the error that [Shape.Gather] would for an index of a shape, whatever is in
// it.
func (s Shape) CheckGather(dim int, shape Shape) error {
	if err := s.Check(); err != nil {
		return err
	}
	at, err := s.Dim(dim)
	if err != nil {
		return err
	}
	if len(shape) != len(s) {
		return fmt.Errorf("%w: got an index %v, want one with the %d dims of %v", ErrShape, shape, len(s), s)
	}
	for d, n := range shape {
		if d != at && n > s[d] {
			return fmt.Errorf("%w: got an index %v, want at most %v but for dim %d", ErrShape, shape, s, dim)
		}
	}
	return shape.Check()
}

// gatherRows returns the row-major position within s of each element of an index along dim at.
func (s Shape) gatherRows(at int, index []int, shape Shape) ([]int, error) {
	strides := make([]int, len(s))
	rowMajor(strides, s)
	step := strides[at]
	strides[at] = 0
	rows, n := make([]int, len(index)), 0
	if len(index) == 0 {
		return rows, nil // however large the other dims
	}
	last := len(s) - 1
	for base := range (View{Shape: shape[:last], Strides: strides[:last]}).Offsets() {
		for j := range shape[last] {
			i := index[n]
			if uint(i) >= uint(s[at]) {
				var err error
				if i, err = element(i, n, at, s[at]); err != nil {
					return nil, err
				}
			}
			rows[n] = base + j*strides[last] + i*step
			n++
		}
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
