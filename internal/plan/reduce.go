package plan

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shape"
)

// A Reduction is the shape that results if some dims of a shape are reduced: they are dropped, or
// get another size. [Reduce] and [Regroup] make Reductions. Safe for concurrent use.
type Reduction struct {
	rank    int // number of dims of the original shape
	to      shape.Shape
	origins []int
}

// Reduce plans to reduce the given dims, or all if none is given. A reduced dim is dropped, or with
// keep gets size 1:
//
//	[A N B] with dim 1 -> [A B], with keep -> [A 1 B]
//
// It returns [shape.ErrDim] if s has no such dim, or if a dim is given twice.
func Reduce(s shape.Shape, keep bool, dims ...int) (*Reduction, error) {
	reduced, err := chosen(s, dims)
	if err != nil {
		return nil, err
	}
	r := &Reduction{rank: len(s), to: shape.Shape{}}
	for dim, size := range s {
		switch {
		case !reduced[dim]:
			r.to, r.origins = append(r.to, size), append(r.origins, dim)
		case keep:
			r.to, r.origins = append(r.to, 1), append(r.origins, dim)
		}
	}
	return r, nil
}

// Regroup plans to combine the rows of s along dim 0 into another number of rows:
//
//	[N B] -> [groups B]
//
// It returns [shape.ErrDim] if s has no dim, and [shape.ErrShape] if groups is negative.
func Regroup(s shape.Shape, groups int) (*Reduction, error) {
	if len(s) == 0 {
		return nil, fmt.Errorf("%w: got shape [], want at least one dim", shape.ErrDim)
	}
	if groups < 0 {
		return nil, fmt.Errorf("%w: got %d groups, want 0 or more", shape.ErrShape, groups)
	}
	r := &Reduction{rank: len(s), to: s.Clone()}
	r.to[0] = groups
	for dim := range s {
		r.origins = append(r.origins, dim)
	}
	return r, nil
}

// Shape returns the shape of the result. The caller must not change it.
func (r *Reduction) Shape() shape.Shape { return r.to }

// Rank returns the number of dims of the original shape.
func (r *Reduction) Rank() int { return r.rank }

// Origin returns the original dim of a dim of r.Shape().
func (r *Reduction) Origin(dim int) int { return r.origins[dim] }
