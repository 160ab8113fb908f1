package pickstack

import (
	"fmt"
	"sort"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// checkIndex returns an error unless a tensor holds integers for an index, [A].
func checkIndex(index *tensor.Tensor) error {
	if d := index.DType(); d != tensor.Int32 && d != tensor.Int64 {
		return fmt.Errorf("%w: got %v, want int32 or int64", tensor.ErrDType, d)
	}
	if len(index.Shape()) != 1 {
		return fmt.Errorf("%w: got shape %v, want one dim", shapeops.ErrDim, index.Shape())
	}
	return nil
}

// readIndex returns the elements of an index.
func readIndex(index *tensor.Tensor) ([]int, error) {
	if err := checkIndex(index); err != nil {
		return nil, err
	}
	list, err := index.Ints()
	return append([]int{}, list...), err // not nil
}

// readRagged returns the elements of a ragged index, which has a batch dim and so many levels, and
// so the shape that is wanted.
func readRagged(index *ragged.Tensor, levels int, want string) ([]int, error) {
	if !index.Made() {
		return nil, fmt.Errorf("%w: got an empty ragged tensor", tensor.ErrKind)
	}
	if len(index.Shape()) != 1 || index.Depth() != levels || len(index.Features()) > 0 {
		return nil, fmt.Errorf("%w: got %s, want %s", shapeops.ErrDim, index.ShapeText(), want)
	}
	values, err := index.Values()
	if err != nil {
		return nil, err
	}
	return readIndex(values)
}

// readOffsets returns the offsets of a level of a ragged index.
func readOffsets(index *ragged.Tensor, level int) ([]int, error) {
	offsets, err := index.Offsets(level)
	return toInts(offsets), err
}

func toInts(s []int64) []int {
	ints := make([]int, len(s))
	for i, v := range s {
		ints[i] = int(v)
	}
	return ints
}

// place makes the entries of a table, each of which counts the rows of its own problem, count those
// of all: problem q has rows problems[q] to problems[q+1] of the result and starts[q] to
// starts[q+1] of the source. It returns ErrIndex for an entry that its problem does not have.
func (t *table) place(problems, starts []int) error {
	if t.identity() {
		return nil
	}
	for q, start := range starts[:len(starts)-1] {
		from, to := t.span(problems[q], problems[q+1])
		width := starts[q+1] - start
		for i, row := range t.list[from:to] {
			if row < 0 || row >= width {
				err := fmt.Errorf("%s: %w: got row %d of an input of %d", t.position(problems[q], i), shapeops.ErrIndex, row, width)
				return inProblem(q, len(problems)-1, err)
			}
			t.list[from+i] += start
		}
	}
	return nil
}

// inProblem adds the problem to an error, if there are several.
func inProblem(q, of int, err error) error {
	if of == 1 {
		return err
	}
	return fmt.Errorf("problem %d: %w", q, err)
}

// position says where an entry is, the i-th of those of the rows from first on.
func (t *table) position(first, i int) string {
	if t.splits == nil {
		return fmt.Sprintf("position %d", i)
	}
	e := t.splits[first] + i
	pool := sort.Search(t.rows, func(pool int) bool { return t.splits[pool+1] > e })
	return fmt.Sprintf("position %d, entry %d of pool %d", i, e-t.splits[pool], pool-first)
}

// checkIndices returns ErrShape unless there are as many indices as inputs, and any.
func checkIndices(indices, inputs int) error {
	switch {
	case inputs == 0:
		return fmt.Errorf("%w: got no input", shapeops.ErrShape)
	case indices != inputs:
		return fmt.Errorf("%w: got %d indices, want %d, one for each input", shapeops.ErrShape, indices, inputs)
	}
	return nil
}
