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
	w.row, w.sums = grown(w.row, m.channels), grown(w.sums, m.channels)
	for lo < hi {
		next := m.few(lo, hi)
		first, end := m.span(lo, next)
		if end-first > m.most() {
			w.reduceLong(m, lo)
		} else {
			w.take(m, first, end)
			for i := lo; i < next; i++ {
				from, to := m.span(i, i+1)
				w.reduce(m, i, w.at[from-first:to-first])
			}
		}
		lo = next
	}
}

// most returns how many entries are taken at a time.
func (m *move[E, T]) most() int {
	const entries, numbers = 1 << 10, 1 << 12
	if m.atHand() {
		return entries
	}
	return max(1, numbers/m.channels)
}

// few returns up to which row, after lo, the rows from lo on have few enough entries to be taken at
// a time. It is one row at least, which may have more.
func (m *move[E, T]) few(lo, hi int) int {
	most := m.most()
	next := lo + 1
	for first, _ := m.span(lo, next); next < hi; next++ {
		if _, end := m.span(lo, next+1); end-first > most {
			break
		}
	}
	return next
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
	wide := m.channels >= manyChannels && m.dst.channel == 1 && m.src.channel == 1
	if wide && m.list != nil {
		copyListed(m.dst.s[m.place(lo):], m.src.s[m.from:], m.list[lo:hi], m.dst.row, m.src.row, m.channels)
		return
	}
	for i := lo; i < hi; i++ {
		row := i
		if m.list != nil {
			row = m.list[i]
		}
		to, from := m.place(i), m.from+row*m.src.row
		if wide {
			copy(m.dst.s[to:to+m.channels], m.src.s[from:from+m.channels])
			continue
		}
		for c := range m.channels {
			m.dst.s[to+c*m.dst.channel] = m.src.s[from+c*m.src.channel]
		}
	}
}

// copyListed copies rows of n elements that lie side by side.
func copyListed[E stored](dst, src []E, list []int, to, from, n int) {
	for i, row := range list {
		copy(dst[i*to:i*to+n], src[row*from:row*from+n])
	}
}

// manyChannels is where a call of copy begins to be faster than a loop.
const manyChannels = 4

// reduce makes row i of entries that are at w.at.
func (w *worker[E, T, K]) reduce(m *move[E, T], i int, at []int) {
	d := w.begin(m, i)
	m.fold(d, w.x, at)
	if m.rule != nil {
		if m.rule.Reduction == LogSumExp {
			clear(w.sums)
			w.weigh(d, at)
		}
		w.finish(m, d, len(at))
	}
	w.end(m, i, d)
}

// reduceLong makes row i of so many entries that they are taken part by part.
func (w *worker[E, T, K]) reduceLong(m *move[E, T], i int) {
	d := w.begin(m, i)
	from, to := m.span(i, i+1)
	for e := from; e < to; e += m.most() {
		w.take(m, e, min(to, e+m.most()))
		m.fold(d, w.x, w.at)
	}
	if m.rule != nil {
		if m.rule.Reduction == LogSumExp {
			clear(w.sums)
			for e := from; e < to; e += m.most() {
				w.take(m, e, min(to, e+m.most()))
				w.weigh(d, w.at)
			}
		}
		w.finish(m, d, to-from)
	}
	w.end(m, i, d)
}

// begin returns row i, to fold into.
func (w *worker[E, T, K]) begin(m *move[E, T], i int) []T {
	d, at := w.row, m.place(i)
	if m.dst.direct != nil {
		d = m.dst.direct[at:][:m.channels]
	}
	switch {
	case !m.add:
		fill(d, m.neutral)
	case m.dst.direct == nil:
		m.dst.load(d, at)
	}
	return d
}

// end writes row i, unless it is where it belongs.
func (w *worker[E, T, K]) end(m *move[E, T], i int, d []T) {
	if m.dst.direct == nil {
		m.dst.store(m.place(i), d)
	}
}

// atHand reports whether the rows of the source need not be copied.
func (m *move[E, T]) atHand() bool { return m.src.direct != nil && m.shares == nil }

// take finds the rows that some entries name: w.x has them, at w.at.
func (w *worker[E, T, K]) take(m *move[E, T], from, to int) {
	w.at = grown(w.at, to-from)
	for i := range w.at {
		w.at[i] = from + i
	}
	if m.list != nil {
		copy(w.at, m.list[from:to])
	}
	if !m.atHand() {
		w.copyTaken(m)
		return
	}
	w.x = m.src.direct
	for i, row := range w.at {
		w.at[i] = m.from + row*m.src.row
	}
}

// copyTaken copies the rows whose numbers are at w.at.
func (w *worker[E, T, K]) copyTaken(m *move[E, T]) {
	w.rows = grown(w.rows, len(w.at)*m.channels)
	w.x = w.rows
	for i, row := range w.at {
		w.at[i] = i * m.channels
		d := w.rows[w.at[i]:][:m.channels]
		m.src.load(d, m.from+row*m.src.row)
		if m.shares != nil {
			divide(d, m.shares.entries(row))
		}
	}
}

// divide divides all of d by n.
func divide[T number](d []T, n int) {
	for c := range d {
		d[c] /= T(n)
	}
}

// finish makes of the folded entries of a pool what its rule says. A maximum has begun with
// MinValue.
func (w *worker[E, T, K]) finish(m *move[E, T], d []T, entries int) {
	if entries == 0 {
		fill(d, w.empty)
		return
	}
	switch m.rule.Reduction {
	case Max:
		return
	case Mean:
		divide(d, entries)
	case LogSumExp:
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

// weigh adds the weights of some entries to w.sums.
func (w *worker[E, T, K]) weigh(greatest []T, at []int) {
	for _, o := range at {
		for c, v := range w.x[o:][:len(greatest)] {
			w.sums[c] += weight(v, greatest[c])
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
