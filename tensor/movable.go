package tensor

import (
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
)

// Movable is what a kind of value implements on its own type besides shapeops.Batched: how its
// content moves. Content that has no bytes changes in a function given to [Transfer.Commit], so
// that an operation on many values stays atomic.
type Movable[T any] interface {
	shapeops.Batched[T]

	// ExecuteInto adds to tr: dst = what p.Plan makes of the value.
	ExecuteInto(tr *Transfer, dst T, p *plan.Pass) error
	// JoinTo adds to tr: dst = xs, of which the value is the first, joined as p.Join says.
	JoinTo(tr *Transfer, dst T, p *plan.Pass, xs []T) error
	// Write adds to tr: the part of the value that p.Plan selects = src, broadcast.
	Write(tr *Transfer, src T, p *plan.Pass) error
}
