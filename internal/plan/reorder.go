package plan

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shape"
)

// Flip plans to reverse the positions along the given dims, or along all if none is given. The
// result is a copy. It returns [shape.ErrDim] if s has no such dim, or if a dim is given twice.
func Flip(s shape.Shape, dims ...int) (*Plan, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	flip, err := chosen(s, dims)
	if err != nil {
		return nil, err
	}
	from := newPlan(s)
	for dim, size := range s {
		if flip[dim] {
			from.mirror(dim, size)
		} else {
			from.keep(dim)
		}
	}
	return laidWhole(s, from.done())
}

// mirror appends a dim with its positions in reverse order.
func (p *Plan) mirror(dim, size int) {
	p.start(dim, max(0, size-1))
	p.step(dim, size, -1)
}

// laidWhole returns the plan whose only piece is the result of from, a plan on s.
func laidWhole(s shape.Shape, from *Plan) (*Plan, error) {
	p, err := newLaid(s, from.to)
	if err != nil {
		return nil, err
	}
	p.lay(planned(whole(from.to)), planned(from))
	p.origins = make([]int, len(from.to))
	for dim := range p.origins {
		p.origins[dim] = from.axisOrigin(dim)
	}
	return p, nil
}

// chosen reports for each dim of s whether it is in dims; empty dims mean all. It returns ErrDim if
// a dim is named twice.
func chosen(s shape.Shape, dims []int) ([]bool, error) {
	out := make([]bool, len(s))
	for _, dim := range dims {
		i, err := s.Dim(dim)
		if err != nil {
			return nil, err
		}
		if out[i] {
			return nil, fmt.Errorf("%w: got dim %d twice in %v, want each dim of shape %v at most once", shape.ErrDim, i, dims, s)
		}
		out[i] = true
	}
	for i := range out {
		out[i] = out[i] || len(dims) == 0
	}
	return out, nil
}

// Roll plans to move each position of a dim by shift positions; positions moved past the end
// continue at the beginning. A negative shift moves the other way, and shift may be larger than the
// dim. The result is a copy. It returns [shape.ErrDim] if s has no such dim.
func Roll(s shape.Shape, dim, shift int) (*Plan, error) {
	at, err := s.Dim(dim)
	if err != nil {
		return nil, err
	}
	p, err := newLaid(s, s)
	if err != nil || s[at] == 0 {
		return p, err
	}
	n := s[at]
	k := shift % n
	if k < 0 {
		k += n
	}
	p.lay(part(s, at, k, n-k), part(s, at, 0, n-k))
	p.lay(part(s, at, 0, k), part(s, at, n-k, k))
	return p, nil
}

// Rot90 plans to rotate the plane of two dims by quarters quarter turns, from the first dim towards
// the second, as NumPy's rot90 does. The result is a copy. It returns [shape.ErrDim] if s lacks one
// of the dims or they are the same.
func Rot90(s shape.Shape, first, second, quarters int) (*Plan, error) {
	a, err := s.Dim(first)
	if err != nil {
		return nil, err
	}
	b, err := s.Dim(second)
	if err != nil {
		return nil, err
	}
	if a == b {
		return nil, fmt.Errorf("%w: got dim %d twice, want two dims to turn", shape.ErrDim, first)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return laidWhole(s, turned(s, (quarters%4+4)%4, a, b))
}

// turned plans to rotate dims a and b by 0 to 3 quarter turns.
func turned(s shape.Shape, quarters, a, b int) *Plan {
	p := newPlan(s)
	for dim := range s {
		from := dim
		if quarters%2 == 1 && (dim == a || dim == b) {
			from = a + b - dim
		}
		switch {
		case quarters == 2 && (dim == a || dim == b),
			quarters == 1 && dim == a,
			quarters == 3 && dim == b:
			p.mirror(from, s[from])
		default:
			p.keep(from)
		}
	}
	return p.done()
}
