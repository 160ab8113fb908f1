package plan

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// Index plans an index expression; package shapeops has the rules. It returns [shape.ErrIndex] if
//
//   - the expression has more parts than s has dims
//   - a position is out of range
//   - the shape of a mask differs from the dims that it covers
//   - after a mask over several dims there is a position, a new dim or a range that does not keep
//     its dim whole; dims of size 1 are exempt
//   - lists do not broadcast together
func Index(s shape.Shape, expr ...ix.Index) (*Plan, error) {
	used, err := count(s, expr)
	if err != nil {
		return nil, err
	}
	b := indexer{plan: newPlan(s), left: len(s) - used}
	for i := range expr {
		if err := b.part(&expr[i]); err != nil {
			return nil, err
		}
	}
	for b.dim < len(s) {
		b.plan.keep(b.dim)
		b.dim++
	}
	if b.picks == 0 {
		return b.plan.done(), nil
	}
	return b.picked()
}

// count checks each part of expr by itself, and returns the number of dims of s that the parts
// cover.
func count(s shape.Shape, expr []ix.Index) (used int, err error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	rests := 0
	for i := range expr {
		x := &expr[i]
		if err := x.Check(); err != nil {
			return 0, fmt.Errorf("%w: part %d: %w", shape.ErrIndex, i, err)
		}
		switch x.Kind() {
		case ix.KindRest:
			rests++
		case ix.KindMask:
			used += len(x.Shape())
		case ix.KindAll, ix.KindAt, ix.KindRange, ix.KindTake:
			used++
		}
	}
	if rests > 1 {
		return 0, fmt.Errorf("%w: got %d times \"...\", want at most one", shape.ErrIndex, rests)
	}
	if used > len(s) {
		return 0, fmt.Errorf("%w: got an index expression over %d dims, want at most the %d dims of %v", shape.ErrIndex, used, len(s), s)
	}
	return used, nil
}

// An indexer builds the plan of an expression part by part.
type indexer struct {
	plan  *Plan
	dim   int    // the next dim of plan.from
	left  int    // number of dims that "..." stands for
	wide  int    // number of dims that the masks so far cover, less one for each mask
	first pick   // of picks
	more  []pick // the other picks
	picks int
}

func (b *indexer) part(x *ix.Index) error {
	if err := b.checkAfterMask(x); err != nil {
		return err
	}
	switch x.Kind() {
	case ix.KindRest:
		for range b.left {
			b.plan.keep(b.dim)
			b.dim++
		}
	case ix.KindNew:
		b.plan.add(1)
	case ix.KindAll:
		b.plan.keep(b.dim)
		b.dim++
	case ix.KindAt:
		return b.at(x.Position())
	case ix.KindRange:
		b.span(x.Bounds())
	case ix.KindTake:
		return b.take(x)
	case ix.KindMask:
		return b.mask(x)
	}
	return nil
}

// checkAfterMask returns ErrIndex for a part after a mask over several dims that would change a
// dim. torch applies such a part to a dim of the mask, and mostly fails. Here it always fails,
// except for dims of size 1, where the two agree.
func (b *indexer) checkAfterMask(x *ix.Index) error {
	if b.wide == 0 {
		return nil
	}
	whole := true
	// torch mistakes these dims for each other.
	confused := b.plan.from[b.dim-b.wide : min(b.dim+1, len(b.plan.from))]
	for i, size := range confused {
		switch x.Kind() {
		case ix.KindAt:
			whole = whole && size == 1
		case ix.KindNew:
			whole = whole && (size == 1 || i == b.wide)
		case ix.KindRange:
			start, stop, step := x.Bounds()
			whole = whole && step == 1 && Clamp(start, size) == 0 && Clamp(stop, size) == size
		}
	}
	if !whole {
		return fmt.Errorf("%w: got %v after a mask over several dims, want dims kept whole; index twice instead", shape.ErrIndex, x.String())
	}
	return nil
}

func (b *indexer) at(i int) error {
	i, err := b.plan.from.At(b.dim, i)
	if err != nil {
		return err
	}
	b.plan.start(b.dim, i)
	b.dim++
	return nil
}

func (b *indexer) span(start, stop, step int) {
	size := b.plan.from[b.dim]
	start, stop = Clamp(start, size), Clamp(stop, size)
	n := 0
	if start < stop {
		n = (stop-start-1)/step + 1
	}
	if n > 0 {
		b.plan.start(b.dim, start)
	}
	if n <= 1 {
		step = 1
	}
	b.plan.step(b.dim, n, step)
	b.dim++
}

// Clamp limits a bound of a range to 0..size. A negative bound counts from the end.
func Clamp(i, size int) int {
	if i < 0 {
		i += size
	}
	return max(0, min(i, size))
}
