package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/shape"
)

// Repeat plans to repeat s along its dims, counts[i] times along dim i:
//
//	[A B], 2, 3 -> [2*A 3*B]
//
// The result is a copy. It returns [shape.ErrShape] unless there is a count for each dim and none
// is negative.
func Repeat(s shape.Shape, counts ...int) (*Plan, error) {
	if len(counts) != len(s) {
		return nil, fmt.Errorf("%w: got counts %v, want one for each dim of %v", shape.ErrShape, counts, s)
	}
	return repeat(s, counts, false)
}

// Tile is [Repeat] with counts aligned at the last dim, as in torch: dims without a count are not
// repeated, and if there are more counts than dims, dims of size 1 are inserted first.
func Tile(s shape.Shape, counts ...int) (*Plan, error) {
	if len(counts) <= len(s) {
		return Repeat(s, slices.Concat(slices.Repeat([]int{1}, len(s)-len(counts)), counts)...)
	}
	return repeat(s, counts, false)
}

// RepeatInterleave plans to repeat each position of a dim count times, next to itself:
//
//	[A N B] -> [A N*count B]
//
// The result is a copy. It returns [shape.ErrDim] if s has no such dim and [shape.ErrShape] if
// count is negative. [RepeatEach] takes a count for each position.
func RepeatInterleave(s shape.Shape, dim, count int) (*Plan, error) {
	at, err := s.Dim(dim)
	if err != nil {
		return nil, err
	}
	if count < 0 {
		return nil, fmt.Errorf("%w: got count %d, want 0 or more", shape.ErrShape, count)
	}
	counts := slices.Repeat([]int{1}, len(s))
	counts[at] = count
	return repeat(s, counts, true)
}

// repeat plans to repeat dims, as a whole, or, if each is true, position by position. Additional
// counts are for new dims before the others.
func repeat(s shape.Shape, counts []int, each bool) (*Plan, error) {
	if err := shape.Shape(counts).Check(); err != nil {
		return nil, fmt.Errorf("counts: %w", err)
	}
	extra := len(counts) - len(s)
	r := repeater{from: newPlan(s), each: each}
	for i, count := range counts {
		if err := r.dim(i-extra, count); err != nil {
			return nil, err
		}
	}
	p, err := newLaid(s, r.to)
	if err != nil || r.to.Size() == 0 {
		return p.moved(extra), err
	}
	cut, err := Reshape(r.to, r.cut...)
	if err != nil {
		return nil, err
	}
	p.lay(planned(cut), planned(r.from.done()))
	return p.moved(extra), nil
}

// moved sets the origins of a layout whose dims come after extra new dims.
func (p *Plan) moved(extra int) *Plan {
	if p == nil || extra == 0 {
		return p
	}
	for dim := range p.to {
		p.origins = append(p.origins, max(noDim, dim-extra))
	}
	return p
}

// A repeater plans to repeat one dim after another. It cuts each dim of the result in two: the
// original dim, and one that repeats it.
type repeater struct {
	from    *Plan
	to, cut shape.Shape
	each    bool
}

// dim repeats a dim. A negative dim is a new one.
func (r *repeater) dim(dim, count int) error {
	size := 1
	if dim >= 0 {
		size = r.from.from[dim]
	}
	if size > 0 && count > math.MaxInt/size {
		return fmt.Errorf("%w: got %d times %d positions of dim %d, which overflows", shape.ErrShape, count, size, dim)
	}
	r.to = append(r.to, size*count)
	if r.each {
		r.keep(dim)
		r.from.add(count)
		r.cut = append(r.cut, size, count)
		return nil
	}
	r.from.add(count)
	r.keep(dim)
	r.cut = append(r.cut, count, size)
	return nil
}

func (r *repeater) keep(dim int) {
	if dim < 0 {
		r.from.add(1)
	} else {
		r.from.keep(dim)
	}
}

// RepeatEach plans to repeat each position i of a dim counts[i] times, next to itself:
//
//	[A N B] -> [A counts[0]+...+counts[N-1] B]
//
// The result is a copy. It returns [shape.ErrDim] if s has no such dim, and [shape.ErrShape] unless
// there is a count for each position, none is negative, and their sum is at most 1<<31.
func RepeatEach(s shape.Shape, dim int, counts []int) (*Plan, error) {
	at, err := s.Dim(dim)
	if err != nil {
		return nil, err
	}
	if len(counts) != s[at] {
		return nil, fmt.Errorf("%w: got %d counts, want %d, one for each position of dim %d", shape.ErrShape, len(counts), s[at], dim)
	}
	total, err := sum(counts)
	if err != nil {
		return nil, err
	}
	to := s.Clone()
	to[at] = total
	if err := to.Check(); err != nil {
		return nil, err
	}
	rows := make([]int, 0, total)
	for i, count := range counts {
		for range count {
			rows = append(rows, i)
		}
	}
	return pickRows(s, at, rows, shape.Shape{len(rows)})
}

// sum returns the sum of counts. It returns [shape.ErrShape] if a count is negative, or the sum
// exceeds the number of rows that a plan can list.
func sum(counts []int) (int, error) {
	total := 0
	for i, count := range counts {
		if count < 0 {
			return 0, fmt.Errorf("%w: got count %d at position %d, want 0 or more", shape.ErrShape, count, i)
		}
		if count > mostListed || total+count > mostListed {
			return 0, fmt.Errorf("%w: got counts that add up to more than %d", shape.ErrShape, mostListed)
		}
		total += count
	}
	return total, nil
}
