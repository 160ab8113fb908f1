package pickstack

import (
	"fmt"
	"sort"

	"github.com/go-tensordict/tensordict/shapeops"
)

// A table says which rows of a source each row of a result is made of.
type table struct {
	rows   int   // of the result
	width  int   // rows of the source
	splits []int // row i is made of list[splits[i]:splits[i+1]]; nil: of list[i]
	list   []int // nil: row i is row i of the source
	linear bool  // the gradient does not depend on the source
}

// entries returns how many entries row i has.
func (t *table) entries(i int) int {
	from, to := t.span(i, i+1)
	return to - from
}

// size returns the number of entries.
func (t *table) size() int {
	if t.list == nil {
		return t.rows
	}
	return len(t.list)
}

// span returns which entries rows lo to hi have.
func (t *table) span(lo, hi int) (from, to int) {
	if t.splits == nil {
		return lo, hi
	}
	return t.splits[lo], t.splits[hi]
}

// identity reports whether each row is itself.
func (t *table) identity() bool { return t.list == nil }

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
