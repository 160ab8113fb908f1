package shapeops

import "fmt"

// A Reduction is what becomes of a shape of which some dims are reduced: they drop out, or stay
// with another size. Methods of [Shape] make Reductions. Safe for concurrent use.
type Reduction struct {
	rank    int // dims that it was made for
	to      Shape
	origins []int
}

// Reduce plans to reduce the given dims, or all if none is given: each drops out, or with keep has
// the size 1:
//
//	[A N B] with dim 1 -> [A B], with keep -> [A 1 B]
//
// It returns [ErrDim] for a dim that s does not have, or that is named twice.
func (s Shape) Reduce(keep bool, dims ...int) (*Reduction, error) {
	reduced, err := s.chosen(dims)
	if err != nil {
		return nil, err
	}
	r := &Reduction{rank: len(s), to: Shape{}}
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

// Regroup plans to make another number of rows of those that s has along dim 0:
//
//	[N B] -> [groups B]
//
// It returns [ErrDim] if s has no dim, and [ErrShape] for a negative number.
func (s Shape) Regroup(groups int) (*Reduction, error) {
	if len(s) == 0 {
		return nil, fmt.Errorf("%w: got the shape [], want a dim of rows to group", ErrDim)
	}
	if groups < 0 {
		return nil, fmt.Errorf("%w: got %d groups", ErrShape, groups)
	}
	r := &Reduction{rank: len(s), to: s.Clone()}
	r.to[0] = groups
	for dim := range s {
		r.origins = append(r.origins, dim)
	}
	return r, nil
}

// Shape returns the shape that the reduction leads to. The caller must not change it.
func (r *Reduction) Shape() Shape { return r.to }

// Rank returns the number of dims that r was made for.
func (r *Reduction) Rank() int { return r.rank }

// Origin returns the dim that a dim of r.Shape() was.
func (r *Reduction) Origin(dim int) int { return r.origins[dim] }
