package pickstack

import (
	"cmp"
	"slices"
)

// An inverse is a transposed table: for each row of the source that is in a row of the result, it
// lists those rows of the result.
type inverse struct {
	table
	used []int // rows of the source, ascending: row i of the inverse is for row used[i]
	at   []int // for each entry of the original table, the position of its row in used

	// The rows of problem q in used are at positions bounds[q] to bounds[q+1]-1.
	bounds []int
}

// invert returns the inverse of a table. Problem q has the rows problems[q] to problems[q+1]-1 of
// the result. Entries keep their order.
func (t *table) invert(problems []int) *inverse {
	v := &inverse{table: table{width: t.rows}}
	if t.identity() {
		v.rows = t.rows
		return v
	}
	v.fill(t)
	v.bounds = make([]int, len(problems))
	for q, hi := range problems[1:] {
		v.bounds[q+1] = v.bounds[q]
		if from, to := t.span(problems[q], hi); from < to {
			v.bounds[q+1] = slices.Max(v.at[from:to]) + 1
		}
	}
	return v
}

// fill is invert for a table that is not the identity.
func (v *inverse) fill(t *table) {
	order := t.order()
	v.at, v.list, v.splits = make([]int, len(order)), make([]int, len(order)), []int{}
	for i, e := range order {
		if row := t.list[e]; i == 0 || row != v.used[len(v.used)-1] {
			v.used, v.splits = append(v.used, row), append(v.splits, i)
		}
		v.at[e], v.list[i] = len(v.used)-1, e
	}
	v.splits = append(v.splits, len(order))
	v.rows = len(v.used)
	t.rowsOf(v.list)
}

// order returns the numbers of the entries, sorted by their rows in the source; the sort is stable.
func (t *table) order() []int {
	order := make([]int, len(t.list))
	if t.width > 4*len(t.list) {
		for e := range order {
			order[e] = e
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.list[a], t.list[b]) })
		return order
	}
	next := make([]int, t.width+1)
	for _, row := range t.list {
		next[row+1]++
	}
	for row := range t.width {
		next[row+1] += next[row]
	}
	for e, row := range t.list {
		order[next[row]] = e
		next[row]++
	}
	return order
}

// rowsOf replaces numbers of entries by the rows of the result that contain them.
func (t *table) rowsOf(entries []int) {
	if t.splits == nil {
		return
	}
	of := make([]int, len(t.list))
	for i := range t.rows {
		for e := t.splits[i]; e < t.splits[i+1]; e++ {
			of[e] = i
		}
	}
	for i, e := range entries {
		entries[i] = of[e]
	}
}
