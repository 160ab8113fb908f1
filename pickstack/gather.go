package pickstack

import "math"

// A move makes rows of one slab of rows of another.
type move[E stored, T number] struct {
	table
	src, dst *slab[E, T]
	from, to int   // where in them the first row begins: batch element and channels
	used     []int // which row of dst row i is; nil: row i
	channels int
	fold     folder[T]
	neutral  T            // what a row begins with, unless add
	add      bool         // to what dst holds
	rule     *PoolOptions // of a pool, or nil: what there is to do besides folding
	shares   *table       // if not nil, each row is divided by how many entries that has for it
}

// move makes rows lo to hi.
func (w *worker[E, T, K]) move(m *move[E, T], lo, hi int) {
	switch {
	case m.channels == 0:
		return
	case m.splits == nil && !m.add:
		m.copyRows(lo, hi)
		return
	}
	w.row = grown(w.row, m.channels)
	for i := lo; i < hi; i++ {
		w.reduce(m, i)
	}
}

// place returns where row i of the result begins.
func (m *move[E, T]) place(i int) int {
	if m.used != nil {
		i = m.used[i]
	}
	return m.to + i*m.dst.row
}

// copyRows makes rows lo to hi of one entry each, bit for bit.
func (m *move[E, T]) copyRows(lo, hi int) {
	for i := lo; i < hi; i++ {
		from := i
		if m.list != nil {
			from = m.list[i]
		}
		to, from := m.place(i), m.from+from*m.src.row
		if m.channels >= manyChannels && m.dst.channel == 1 && m.src.channel == 1 {
			copy(m.dst.s[to:to+m.channels], m.src.s[from:from+m.channels])
			continue
		}
		for c := range m.channels {
			m.dst.s[to+c*m.dst.channel] = m.src.s[from+c*m.src.channel]
		}
	}
}

// manyChannels is where a call of copy begins to be faster than a loop.
const manyChannels = 4

// reduce makes row i.
func (w *worker[E, T, K]) reduce(m *move[E, T], i int) {
	d, at := w.row, m.place(i)
	if m.dst.direct != nil {
		d = m.dst.direct[at : at+m.channels]
	}
	switch {
	case !m.add:
		fill(d, m.neutral)
	case m.dst.direct == nil:
		m.dst.load(d, at)
	}
	entries := m.entries(i, &w.one)
	for left := entries; len(left) > 0; {
		var x []T
		x, left = w.take(m, left)
		m.fold(d, x, w.at)
	}
	if m.rule != nil {
		w.finish(m, d, entries)
	}
	if m.dst.direct == nil {
		m.dst.store(at, d)
	}
}

// takenNumbers is how many numbers are taken at a time if they are not at hand, and how many
// entries.
const takenNumbers = 1 << 12

// take finds the first rows that entries say: x has them, at w.at. The others are left.
func (w *worker[E, T, K]) take(m *move[E, T], entries []int) (x []T, left []int) {
	if m.src.direct != nil && m.shares == nil {
		n := min(len(entries), takenNumbers)
		w.at = grown(w.at, n)
		for j, v := range entries[:n] {
			w.at[j] = m.from + v*m.src.row
		}
		return m.src.direct, entries[n:]
	}
	n := min(len(entries), max(1, takenNumbers/m.channels))
	w.at, w.rows = grown(w.at, n), grown(w.rows, n*m.channels)
	for j, v := range entries[:n] {
		w.at[j] = j * m.channels
		row := w.rows[w.at[j]:][:m.channels]
		m.src.load(row, m.from+v*m.src.row)
		if m.shares != nil {
			divide(row, len(m.shares.entries(v, &w.one)))
		}
	}
	return w.rows, entries[n:]
}

// divide divides all of d by n.
func divide[T number](d []T, n int) {
	for c := range d {
		d[c] /= T(n)
	}
}

// finish makes of the folded entries of a pool what its rule says. A maximum has begun with
// MinValue.
func (w *worker[E, T, K]) finish(m *move[E, T], d []T, entries []int) {
	if len(entries) == 0 {
		fill(d, w.empty)
		return
	}
	switch m.rule.Reduction {
	case Max:
		return
	case Mean:
		divide(d, len(entries))
	case LogSumExp:
		w.sums = grown(w.sums, len(d))
		w.sumExp(m, d, entries)
		for c, greatest := range d {
			d[c] = logSum(greatest, w.sums[c])
		}
	}
	if m.rule.MinValue != nil {
		for c := range d {
			d[c] = max(d[c], w.floor)
		}
	}
}

func fill[T any](d []T, v T) {
	for i := range d {
		d[i] = v
	}
}

// sumExp sets w.sums to the sums of exp(x - greatest) of all entries.
func (w *worker[E, T, K]) sumExp(m *move[E, T], greatest []T, entries []int) {
	clear(w.sums)
	for len(entries) > 0 {
		var x []T
		x, entries = w.take(m, entries)
		for _, at := range w.at {
			for c, v := range x[at:][:len(greatest)] {
				w.sums[c] += weight(v, greatest[c])
			}
		}
	}
}

// logSum returns the logarithm of a sum of exponentials, given the greatest exponent and the sum of
// the exponentials of what they are less than that.
func logSum[T number](greatest T, sum float64) T {
	if math.IsInf(float64(greatest), 0) {
		return greatest
	}
	return T(float64(greatest) + math.Log(sum))
}
