package pickstack

import (
	"fmt"
	"sort"

	"github.com/go-tensordict/tensordict/shapeops"
)

// A table says from which rows of a source each row of a result is computed.
type table struct {
	rows   int   // of the result
	width  int   // rows of the source
	splits []int // row i has the entries list[splits[i]:splits[i+1]]; nil: the entry list[i]
	list   []int // nil: row i is row i of the source
	linear bool  // the gradient does not depend on the source
}

// entries returns the number of entries of row i.
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

// span returns the range of the entries of rows lo to hi-1.
func (t *table) span(lo, hi int) (from, to int) {
	if t.splits == nil {
		return lo, hi
	}
	return t.splits[lo], t.splits[hi]
}

// identity reports whether each row of the result is the same row of the source.
func (t *table) identity() bool { return t.list == nil }

// place changes the entries of a table from row numbers within their problem to row numbers among
// all problems. Problem q has rows problems[q] to problems[q+1]-1 of the result and starts[q] to
// starts[q+1]-1 of the source. place returns ErrIndex if an entry is not a row of its problem.
func (t *table) place(problems, starts []int) error {
	if t.identity() {
		return nil
	}
	for q, start := range starts[:len(starts)-1] {
		from, to := t.span(problems[q], problems[q+1])
		width := starts[q+1] - start
		for i, row := range t.list[from:to] {
			if row < 0 || row >= width {
				err := fmt.Errorf("%s: %w: got row %d, but the input has %d rows", t.position(problems[q], i), shapeops.ErrIndex, row, width)
				if len(problems) > 2 {
					err = fmt.Errorf("problem %d: %w", q, err)
				}
				return err
			}
			t.list[from+i] += start
		}
	}
	return nil
}

// position names an entry in errors: the i-th entry of the rows from first on.
func (t *table) position(first, i int) string {
	if t.splits == nil {
		return fmt.Sprintf("position %d", i)
	}
	e := t.splits[first] + i
	pool := sort.Search(t.rows, func(pool int) bool { return t.splits[pool+1] > e })
	return fmt.Sprintf("position %d, entry %d of pool %d", i, e-t.splits[pool], pool-first)
}
