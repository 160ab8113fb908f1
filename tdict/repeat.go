package tdict

import "github.com/go-tensordict/tensordict/internal/plan"

// Repeat returns td laid side by side with itself along its batch dims, so often along each: [A B],
// 2, 3 -> [2*A 3*B]. The result is a copy. Its errors are those of shapeops.Shape.Repeat.
func (td *TensorDict) Repeat(counts ...int) (*TensorDict, error) {
	p, err := plan.Repeat(td.batch, counts...)
	return td.executed("repeat", p, err)
}

// RepeatInto is [TensorDict.Repeat] into a dictionary that the caller owns, as
// [TensorDict.IndexInto] is; on an error nothing has changed.
func (td *TensorDict) RepeatInto(dst *TensorDict, counts ...int) error {
	p, err := plan.Repeat(td.batch, counts...)
	return td.executedInto("repeat", dst, p, err)
}

// Tile is [TensorDict.Repeat] with counts that are aligned at the last batch dim, as in torch. The
// result is a copy. Its errors are those of shapeops.Shape.Tile.
func (td *TensorDict) Tile(counts ...int) (*TensorDict, error) {
	p, err := plan.Tile(td.batch, counts...)
	return td.executed("tile", p, err)
}

// TileInto is [TensorDict.Tile] into a dictionary that the caller owns, as [TensorDict.IndexInto]
// is; on an error nothing has changed.
func (td *TensorDict) TileInto(dst *TensorDict, counts ...int) error {
	p, err := plan.Tile(td.batch, counts...)
	return td.executedInto("tile", dst, p, err)
}

// RepeatInterleave returns td with each position of a batch dim repeated so many times, next to
// itself: [A N B] -> [A N*count B]. The result is a copy. Its errors are those of
// shapeops.Shape.RepeatInterleave.
func (td *TensorDict) RepeatInterleave(count, dim int) (*TensorDict, error) {
	p, err := plan.RepeatInterleave(td.batch, count, dim)
	return td.executed("repeat interleave", p, err)
}

// RepeatInterleaveInto is [TensorDict.RepeatInterleave] into a dictionary that the caller owns, as
// [TensorDict.IndexInto] is; on an error nothing has changed.
func (td *TensorDict) RepeatInterleaveInto(dst *TensorDict, count, dim int) error {
	p, err := plan.RepeatInterleave(td.batch, count, dim)
	return td.executedInto("repeat interleave", dst, p, err)
}

// RepeatEach returns td with each position of a batch dim repeated next to itself, as often as
// counts says for it. The result is a copy. Its errors are those of shapeops.Shape.RepeatEach.
func (td *TensorDict) RepeatEach(counts []int, dim int) (*TensorDict, error) {
	p, err := plan.RepeatEach(td.batch, counts, dim)
	return td.executed("repeat each", p, err)
}

// RepeatEachInto is [TensorDict.RepeatEach] into a dictionary that the caller owns, as
// [TensorDict.IndexInto] is; on an error nothing has changed.
func (td *TensorDict) RepeatEachInto(dst *TensorDict, counts []int, dim int) error {
	p, err := plan.RepeatEach(td.batch, counts, dim)
	return td.executedInto("repeat each", dst, p, err)
}
