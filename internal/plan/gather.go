package plan

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shape"
)

// Gather plans to pick, at each position of an index, the position of dim that the index names:
//
//	s [A N B], index [A' M B'] -> [A' M B'], out[a m b] = in[a index[a m b] b]
//
// index is row-major and has the shape of. The dims of of other than dim may be smaller than the
// dims of s. Negative positions count from the end. The result is a copy; a write through the plan
// is a scatter.
//
// Gather returns [shape.ErrDim] if s has no such dim, [shape.ErrShape] if of does not fit s or
// index, and [shape.ErrIndex], with the element of the index, if a position is out of range.
func Gather(s shape.Shape, dim int, index []int, of shape.Shape) (*Plan, error) {
	if err := CheckGather(s, dim, of); err != nil {
		return nil, err
	}
	if n := of.Size(); n != len(index) {
		return nil, fmt.Errorf("%w: got an index of %d elements, want %d for shape %v", shape.ErrShape, len(index), n, of)
	}
	at, _ := s.Dim(dim) // has been checked
	rows, err := gatherRows(s, at, index, of)
	if err != nil {
		return nil, err
	}
	p := whole(s)
	k := &Pick{rows: rows, shape: of.Clone(), same: true}
	k.dims = k.few.dims[:0]
	for d := range s {
		k.dims = append(k.dims, d)
	}
	p.pick, p.to = k, k.shape.Clone()
	return p, nil
}

// CheckGather returns the error that [Gather] returns for any index of shape of.
func CheckGather(s shape.Shape, dim int, of shape.Shape) error {
	if err := s.Check(); err != nil {
		return err
	}
	at, err := s.Dim(dim)
	if err != nil {
		return err
	}
	if len(of) != len(s) {
		return fmt.Errorf("%w: got an index of shape %v, want as many dims as in %v", shape.ErrShape, of, s)
	}
	for d, n := range of {
		if d != at && n > s[d] {
			return fmt.Errorf("%w: got an index of shape %v, want at most %v in all dims but dim %d", shape.ErrShape, of, s, dim)
		}
	}
	return of.Check()
}

// gatherRows returns the row-major position within s of each element of an index along dim at.
func gatherRows(s shape.Shape, at int, index []int, of shape.Shape) ([]int, error) {
	strides := s.AppendStrides(make([]int, 0, len(s)))
	step := strides[at]
	strides[at] = 0
	rows, n := make([]int, len(index)), 0
	if len(index) == 0 {
		return rows, nil // whatever the sizes of the other dims
	}
	last := len(s) - 1
	for base := range (shape.View{Shape: of[:last], Strides: strides[:last]}).Offsets() {
		for j := range of[last] {
			i := index[n]
			if uint(i) >= uint(s[at]) {
				var err error
				if i, err = element(s, at, i, n); err != nil {
					return nil, err
				}
			}
			rows[n] = base + j*strides[last] + i*step
			n++
		}
	}
	return rows, nil
}

// element resolves a position of a dim of s. n is its number in a list, for errors.
func element(s shape.Shape, dim, i, n int) (int, error) {
	at, err := s.At(dim, i)
	if err != nil {
		return 0, fmt.Errorf("element %d: %w", n, err)
	}
	return at, nil
}

// Take plans to pick listed positions of a dim, arranged in the shape of the list:
//
//	[A N B], list of shape [I...] -> [A I... B]
//
// list is row-major; negative positions count from the end. The result is a copy. Take returns
// [shape.ErrDim] if s has no such dim, [shape.ErrShape] if of does not have the size of list, and
// [shape.ErrIndex], with the element of the list, if a position is out of range.
func Take(s shape.Shape, dim int, list []int, of shape.Shape) (*Plan, error) {
	at, err := s.Dim(dim)
	if err != nil {
		return nil, err
	}
	if of.Check() != nil || of.Size() != len(list) {
		return nil, fmt.Errorf("%w: got %d positions, want one for each element of shape %v", shape.ErrShape, len(list), of)
	}
	rows, err := positions(s, at, list)
	if err != nil {
		return nil, err
	}
	return pickRows(s, at, rows, of.Clone())
}

// pickRows plans to pick listed rows of a dim, arranged in the shape of. All rows are in range.
func pickRows(s shape.Shape, at int, rows []int, of shape.Shape) (*Plan, error) {
	b := indexer{plan: newPlan(s)}
	for dim := range s {
		if dim == at {
			b.add(pick{dim: dim, over: b.plan.from[dim : dim+1], rows: rows, shape: of})
		}
		b.plan.keep(dim)
	}
	return b.picked()
}
