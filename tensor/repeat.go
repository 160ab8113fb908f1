package tensor

// Repeat returns t laid side by side with itself along its dims, so often along each:
// [A B], 2, 3 -> [2*A 3*B]. The result is a copy. Its errors are those of shapeops.Shape.Repeat.
func (t *Tensor) Repeat(counts ...int) (*Tensor, error) {
	return t.executed(t.view.Shape.Repeat(counts...))
}

// RepeatInto is [Tensor.Repeat] into a tensor that the caller owns, which must have the dtype and
// the shape of the result. Its errors are also those of [Transfer]; on an error nothing has
// changed.
func (t *Tensor) RepeatInto(dst *Tensor, counts ...int) error {
	plan, err := t.view.Shape.Repeat(counts...)
	return t.executedInto(dst, plan, err)
}

// Tile is [Tensor.Repeat] with counts that are aligned at the last dim, as in torch. The result is
// a copy. Its errors are those of shapeops.Shape.Tile.
func (t *Tensor) Tile(counts ...int) (*Tensor, error) {
	return t.executed(t.view.Shape.Tile(counts...))
}

// TileInto is [Tensor.Tile] into a tensor that the caller owns, which must have the dtype and the
// shape of the result. Its errors are also those of [Transfer]; on an error nothing has changed.
func (t *Tensor) TileInto(dst *Tensor, counts ...int) error {
	plan, err := t.view.Shape.Tile(counts...)
	return t.executedInto(dst, plan, err)
}

// RepeatInterleave returns t with each position of a dim repeated so many times, next to itself:
// [A N B] -> [A N*count B]. The result is a copy. Its errors are those of
// shapeops.Shape.RepeatInterleave.
func (t *Tensor) RepeatInterleave(count, dim int) (*Tensor, error) {
	return t.executed(t.view.Shape.RepeatInterleave(count, dim))
}

// RepeatInterleaveInto is [Tensor.RepeatInterleave] into a tensor that the caller owns, which must
// have the dtype and the shape of the result. Its errors are also those of [Transfer]; on an error
// nothing has changed.
func (t *Tensor) RepeatInterleaveInto(dst *Tensor, count, dim int) error {
	plan, err := t.view.Shape.RepeatInterleave(count, dim)
	return t.executedInto(dst, plan, err)
}

// RepeatEach returns t with each position of a dim repeated next to itself, as often as counts says
// for it. The result is a copy. Its errors are those of shapeops.Shape.RepeatEach.
func (t *Tensor) RepeatEach(counts []int, dim int) (*Tensor, error) {
	return t.executed(t.view.Shape.RepeatEach(counts, dim))
}

// RepeatEachInto is [Tensor.RepeatEach] into a tensor that the caller owns, which must have the
// dtype and the shape of the result. Its errors are also those of [Transfer]; on an error nothing
// has changed.
func (t *Tensor) RepeatEachInto(dst *Tensor, counts []int, dim int) error {
	plan, err := t.view.Shape.RepeatEach(counts, dim)
	return t.executedInto(dst, plan, err)
}
