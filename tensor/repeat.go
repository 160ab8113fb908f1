package tensor

import "github.com/go-tensordict/tensordict/internal/plan"

// Repeat returns t laid side by side with itself along its dims, so often along each: [A B], 2, 3
// -> [2*A 3*B]. The result is a copy. Its errors are those of shapeops.Shape.Repeat.
func (t *Tensor) Repeat(counts ...int) (*Tensor, error) {
	return t.executed(plan.Repeat(t.view.Shape, counts...))
}

// RepeatInto is [Tensor.Repeat] into a tensor that the caller owns, which must have the dtype and
// the shape of the result. Its errors are also those of [Transfer]; on an error nothing has
// changed.
func (t *Tensor) RepeatInto(dst *Tensor, counts ...int) error {
	p, err := plan.Repeat(t.view.Shape, counts...)
	return t.executedInto(dst, p, err)
}

// Tile is [Tensor.Repeat] with counts that are aligned at the last dim, as in torch. The result is
// a copy. Its errors are those of shapeops.Shape.Tile.
func (t *Tensor) Tile(counts ...int) (*Tensor, error) {
	return t.executed(plan.Tile(t.view.Shape, counts...))
}

// TileInto is [Tensor.Tile] into a tensor that the caller owns, which must have the dtype and the
// shape of the result. Its errors are also those of [Transfer]; on an error nothing has changed.
func (t *Tensor) TileInto(dst *Tensor, counts ...int) error {
	p, err := plan.Tile(t.view.Shape, counts...)
	return t.executedInto(dst, p, err)
}

// RepeatInterleave returns t with each position of a dim repeated so many times, next to itself: [A
// N B] -> [A N*count B]. The result is a copy. Its errors are those of
// shapeops.Shape.RepeatInterleave.
func (t *Tensor) RepeatInterleave(count, dim int) (*Tensor, error) {
	return t.executed(plan.RepeatInterleave(t.view.Shape, count, dim))
}

// RepeatInterleaveInto is [Tensor.RepeatInterleave] into a tensor that the caller owns, which must
// have the dtype and the shape of the result. Its errors are also those of [Transfer]; on an error
// nothing has changed.
func (t *Tensor) RepeatInterleaveInto(dst *Tensor, count, dim int) error {
	p, err := plan.RepeatInterleave(t.view.Shape, count, dim)
	return t.executedInto(dst, p, err)
}

// RepeatEach returns t with each position of a dim repeated next to itself, as often as counts says
// for it. The result is a copy. Its errors are those of shapeops.Shape.RepeatEach.
func (t *Tensor) RepeatEach(counts []int, dim int) (*Tensor, error) {
	return t.executed(plan.RepeatEach(t.view.Shape, counts, dim))
}

// RepeatEachInto is [Tensor.RepeatEach] into a tensor that the caller owns, which must have the
// dtype and the shape of the result. Its errors are also those of [Transfer]; on an error nothing
// has changed.
func (t *Tensor) RepeatEachInto(dst *Tensor, counts []int, dim int) error {
	p, err := plan.RepeatEach(t.view.Shape, counts, dim)
	return t.executedInto(dst, p, err)
}
