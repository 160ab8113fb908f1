package plan

import (
	"fmt"
	"github.com/go-tensordict/tensordict/shape"
)

// A Piece is a part of a result that is copied as one: the elements of To, a view of the result,
// are those of From, a view of what the plan applies to. The strides of From may be negative.
type Piece struct{ To, From shape.View }

// A layout says how the result of a plan is laid together: from pieces, which do not overlap, with
// padding in the gaps between them.
type layout struct {
	pieces []laid
	gaps   []gap
	padded *padder // whose gaps these are

	few struct { // room for the pieces and gaps of a plan with few: one allocation for all
		pieces [2]laid
		gaps   [2]gap
	}
}

// laid is a piece before it is located: where it lies in the result, and what it is of what the
// plan applies to. Both have one shape.
type laid struct{ to, from spot }

// A spot is a part of a shape: what a plan makes of it, or a box.
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

// view locates the spot in v, which begins with its shape.
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
		out.Offset = v.Offset // no element lies anywhere; this position is inside the buffer
	}
	return out, nil
}

// newLaid starts a plan that lays pieces into the shape to.
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

// lay adds a piece. A piece without elements is left out.
func (p *Plan) lay(to, from spot) {
	if to.size() > 0 {
		p.layout.pieces = append(p.layout.pieces, laid{to, from})
	}
}

// planned returns the spot that a plan leads to.
func planned(p *Plan) spot { return spot{plan: p} }

// whole plans to keep s as it is.
func whole(s shape.Shape) *Plan {
	p := newPlan(s)
	for dim := range s {
		p.keep(dim)
	}
	return p.done()
}

// box plans to keep so many positions of each dim, from one on.
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

// part returns n positions of a dim, from one on, and the other dims as they are.
func part(s shape.Shape, dim, from, n int) spot {
	out := spot{starts: make([]int, len(s)), sizes: s.Clone()}
	out.starts[dim], out.sizes[dim] = from, n
	return out
}

// Laid reports whether the plan lays its result together, of pieces or of padding.
func (p *Plan) Laid() bool { return p.layout != nil }

// Pieces returns of how many pieces the plan lays its result together, and how many gaps they
// leave, which are for padding; 0 for a plan whose result is a view, or picked. Pieces do not
// overlap, and with the gaps they cover the result.
func (p *Plan) Pieces() (pieces, gaps int) {
	if p.layout == nil {
		return 0, 0
	}
	return len(p.layout.pieces), len(p.layout.gaps)
}

// laid returns how many pieces and gaps there are.
func (p *Pass) laid() (pieces, gaps int) {
	if p.Plan == nil {
		return 0, 0
	}
	return p.Plan.Pieces()
}

// Piece locates a piece of the plan's result, given the views of the result and of what the plan
// applies to. It returns [shape.ErrShape] unless these begin with the plan's shapes, and
// [shape.ErrIndex] if there is no such piece.
func (p *Pass) Piece(i int, to, from shape.View) (piece Piece, err error) {
	if pieces, _ := p.laid(); i < 0 || i >= pieces {
		return piece, fmt.Errorf("%w: got piece %d, want one of %d", shape.ErrIndex, i, pieces)
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

// Gap locates a gap of the plan's result. It returns [shape.ErrShape] unless to begins with the
// shape of that, and [shape.ErrIndex] if there is no such gap.
func (p *Pass) Gap(i int, to shape.View) (shape.View, error) {
	if _, gaps := p.laid(); i < 0 || i >= gaps {
		return shape.View{}, fmt.Errorf("%w: got gap %d, want one of %d", shape.ErrIndex, i, gaps)
	}
	if err := to.Shape.CheckPrefix(p.Plan.to); err != nil {
		return shape.View{}, err
	}
	return p.Plan.layout.padded.spot(p.Plan.layout.gaps[i]).view(&p.room, to)
}

// PadsRows returns, of a plan that pads the first dim only, how many positions of padding come
// before what is kept, the first position of that, and how many there are; false for any other
// plan.
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
