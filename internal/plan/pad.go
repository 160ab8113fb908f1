package plan

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shape"
)

// Pad plans to add positions before and after each dim: two sizes for each dim, the first dim
// first. Sizes for the last dims may be omitted. A negative size removes positions.
//
//	[A B], 1, 0, 0, 2 -> [A+1 B+2]
//
// Added positions are filled with [Pass.Fill]. The result is a copy. Pad returns [shape.ErrShape]
// if there are more than two sizes for each dim, if their number is odd, or if more positions are
// removed from a dim than it has.
func Pad(s shape.Shape, sizes ...int) (*Plan, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if len(sizes)%2 != 0 || len(sizes) > 2*len(s) {
		return nil, fmt.Errorf("%w: got sizes %v to pad %v, want an even number of sizes, at most %d", shape.ErrShape, sizes, s, 2*len(s))
	}
	b := newPadder(len(s))
	for dim, size := range s {
		before, after := 0, 0
		if 2*dim < len(sizes) {
			before, after = sizes[2*dim], sizes[2*dim+1]
		}
		if err := b.dim(dim, size, before, after); err != nil {
			return nil, err
		}
	}
	p, err := newLaid(s, b.to)
	if err != nil {
		return nil, err
	}
	b.lay(p)
	return p, nil
}

// A padder collects, for each dim, the positions that are kept, their place in the result, and the
// size of the result.
type padder struct {
	to, kept      shape.Shape
	start, landed []int // the first kept position, in the operand and in the result
	few           [12]int
}

// newPadder returns a padder for n dims.
func newPadder(n int) *padder {
	b := &padder{}
	numbers := b.few[:]
	if 4*n > len(numbers) {
		numbers = make([]int, 4*n)
	}
	b.to, b.kept = numbers[:0:n], numbers[n:n:2*n]
	b.start, b.landed = numbers[2*n:2*n:3*n], numbers[3*n:3*n:4*n]
	return b
}

func (b *padder) dim(dim, size, before, after int) error {
	kept := size + min(before, 0)
	if kept >= 0 {
		kept += min(after, 0)
	}
	n := kept + max(before, 0)
	if n += max(after, 0); kept < 0 || n < kept {
		return fmt.Errorf("%w: got sizes %d and %d to pad dim %d of size %d, want 0 or more positions left",
			shape.ErrShape, before, after, dim, size)
	}
	b.to, b.kept = append(b.to, n), append(b.kept, kept)
	b.start, b.landed = append(b.start, max(-before, 0)), append(b.landed, max(before, 0))
	return nil
}

// lay adds the kept part, and the gaps around it, to a plan.
func (b *padder) lay(p *Plan) {
	p.layout.padded = b
	p.lay(spot{starts: b.landed, sizes: b.kept}, spot{starts: b.start, sizes: b.kept})
	for dim := range b.to {
		b.gap(p, gap{dim, 0, b.landed[dim]})
		end := b.landed[dim] + b.kept[dim]
		b.gap(p, gap{dim, end, b.to[dim] - end})
	}
}

// A gap is n positions of a dim, from position from on. It spans the kept positions of the dims
// before it, and all positions of the dims after it.
type gap struct{ dim, from, n int }

// gap adds a gap to a plan, unless it has no elements.
func (b *padder) gap(p *Plan, g gap) {
	if g.n > 0 && b.kept[:g.dim].Size() > 0 && b.to[g.dim+1:].Size() > 0 {
		p.layout.gaps = append(p.layout.gaps, g)
	}
}

// spot returns the spot of a gap in the result.
func (b *padder) spot(g gap) spot {
	starts, sizes := make([]int, len(b.to)), b.to.Clone()
	copy(starts, b.landed[:g.dim])
	copy(sizes, b.kept[:g.dim])
	starts[g.dim], sizes[g.dim] = g.from, g.n
	return spot{starts: starts, sizes: sizes}
}
