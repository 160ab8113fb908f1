package pickstack

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
