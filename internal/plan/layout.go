package plan

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shape"
)

// A Piece is a part of a result that is copied at once: To, a view of the result, is set from From,
// a view of the operand. The strides of From may be negative.
type Piece struct{ To, From shape.View }

// A layout says how the result of a plan is composed: of pieces, which do not overlap, and of
// padding in the gaps between them.
type layout struct {
	pieces []laid
	gaps   []gap
	padded *padder // the padder that made the gaps

	few struct { // memory for a plan with few pieces and gaps: one allocation for all
		pieces [2]laid
		gaps   [2]gap
	}
}

// laid is a piece that is not located yet: its spots in the result and in the operand, which have
// one shape.
type laid struct{ to, from spot }

// A spot is a part of a shape: the result of a plan, or a box.
type spot struct {
	plan          *Plan
	starts, sizes []int // of the box, for each dim
}

// size returns the number of positions.
func (s spot) size() int {
	if s.plan != nil {
		return s.plan.to.Size()
	}
	return shape.Shape(s.sizes).Size()
}

// view locates the spot in v. The shape of v begins with the shape that the spot is a part of.
func (s spot) view(room *room, v shape.View) (shape.View, error) {
	if s.plan != nil {
		out, _, err := s.plan.view(room, v)
		return out, err
	}
	out := room.view(len(v.Shape))
	out.Shape = append(append(out.Shape, s.sizes...), v.Shape[len(s.sizes):]...)
	out.Strides = v.Strides
	out.Offset = v.Offset
	for dim, start := range s.starts {
		out.Offset += start * v.Strides[dim]
	}
	if out.Shape.Size() == 0 {
		out.Offset = v.Offset // without elements any offset does; this one is inside the buffer
	}
	return out, nil
}

// newLaid starts a plan that composes a result of shape to.
func newLaid(from, to shape.Shape) (*Plan, error) {
	if err := to.Check(); err != nil {
		return nil, err
	}
	p := newPlan(from)
	p.mid = append(p.mid, to...)
	p.layout = &layout{}
	p.layout.pieces, p.layout.gaps = p.layout.few.pieces[:0], p.layout.few.gaps[:0]
	return p.done(), nil
}

// lay adds a piece, unless it has no elements.
func (p *Plan) lay(to, from spot) {
	if to.size() > 0 {
		p.layout.pieces = append(p.layout.pieces, laid{to, from})
	}
}

// planned returns the spot of a plan's result.
func planned(p *Plan) spot { return spot{plan: p} }

// whole plans to keep s as it is.
func whole(s shape.Shape) *Plan {
	p := newPlan(s)
	for dim := range s {
		p.keep(dim)
	}
	return p.done()
}

// box plans to keep sizes[dim] positions of each dim, from starts[dim] on.
func box(s shape.Shape, starts, sizes []int) *Plan {
	p := newPlan(s)
	for dim, n := range sizes {
		if n > 0 {
			p.start(dim, starts[dim])
		}
		p.step(dim, n, 1)
	}
	return p.done()
}

// part returns the spot of n positions of a dim, from position from on, with the other dims whole.
func part(s shape.Shape, dim, from, n int) spot {
	out := spot{starts: make([]int, len(s)), sizes: s.Clone()}
	out.starts[dim], out.sizes[dim] = from, n
	return out
}

// Laid reports whether the result is composed of pieces or padding.
func (p *Plan) Laid() bool { return p.layout != nil }

// Pieces returns the number of pieces of the result, and the number of gaps for padding. Both are 0
// if the result is a view, or picked. Pieces do not overlap; pieces and gaps together cover the
// result.
func (p *Plan) Pieces() (pieces, gaps int) {
	if p.layout == nil {
		return 0, 0
	}
	return len(p.layout.pieces), len(p.layout.gaps)
}

// laid returns the numbers of pieces and gaps.
func (p *Pass) laid() (pieces, gaps int) {
	if p.Plan == nil {
		return 0, 0
	}
	return p.Plan.Pieces()
}

// Piece locates a piece of the result, given the views of the result and of the operand. It returns
// [shape.ErrShape] unless these begin with the plan's shapes, and [shape.ErrIndex] if there is no
// such piece.
func (p *Pass) Piece(i int, to, from shape.View) (piece Piece, err error) {
	if pieces, _ := p.laid(); i < 0 || i >= pieces {
		return piece, fmt.Errorf("%w: got piece %d, want 0 to %d", shape.ErrIndex, i, pieces-1)
	}
	if err := to.Shape.CheckPrefix(p.Plan.to); err != nil {
		return piece, err
	}
	if err := from.Shape.CheckPrefix(p.Plan.from); err != nil {
		return piece, err
	}
	at := &p.Plan.layout.pieces[i]
	if piece.To, err = at.to.view(&p.room, to); err != nil {
		return piece, err
	}
	piece.From, err = at.from.view(&p.room, from)
	return piece, err
}

// Gap locates a gap of the result. It returns [shape.ErrShape] unless to begins with the shape of
// the result, and [shape.ErrIndex] if there is no such gap.
func (p *Pass) Gap(i int, to shape.View) (shape.View, error) {
	if _, gaps := p.laid(); i < 0 || i >= gaps {
		return shape.View{}, fmt.Errorf("%w: got gap %d, want 0 to %d", shape.ErrIndex, i, gaps-1)
	}
	if err := to.Shape.CheckPrefix(p.Plan.to); err != nil {
		return shape.View{}, err
	}
	return p.Plan.layout.padded.spot(p.Plan.layout.gaps[i]).view(&p.room, to)
}

// PadsRows describes a plan that pads only the first dim: before is the number of padding positions
// before the n positions that are kept, and start is the first position that is kept. It returns
// false for other plans.
func (p *Plan) PadsRows() (before, start, n int, ok bool) {
	if p.layout == nil || p.layout.padded == nil || len(p.from) == 0 || !p.from[1:].Equal(p.to[1:]) {
		return 0, 0, 0, false
	}
	b := p.layout.padded
	for dim := 1; dim < len(b.start); dim++ {
		if b.start[dim] != 0 || b.landed[dim] != 0 {
			return 0, 0, 0, false
		}
	}
	return b.landed[0], b.start[0], b.kept[0], true
}
