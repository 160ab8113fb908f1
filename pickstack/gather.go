package pickstack

// A move sets rows of dst from rows of src, as a table says.
type move[E stored, T number] struct {
	table
	src, dst *slab[E, T]
	from, to int   // elements of src and dst at which row 0 begins
	used     []int // row i of the table goes to row used[i] of dst; nil: to row i
	channels int
	fold     folder[T]
	neutral  T            // the initial value of a row, unless add
	add      bool         // add to dst
	rule     *PoolOptions // for pools: the steps after folding; otherwise nil
	shares   *table       // if not nil, row i of src is divided by its number of entries there
}

// move sets rows lo to hi-1.
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
		next := m.batchEnd(lo, hi)
		first, end := m.span(lo, next)
		if end-first > m.batchSize() {
			w.reduceLong(m, lo)
		} else {
			w.find(m, first, end)
			for i := lo; i < next; i++ {
				from, to := m.span(i, i+1)
				w.reduce(m, i, w.at[from-first:to-first])
			}
		}
		lo = next
	}
}

// batchSize returns the largest number of entries of a batch.
func (m *move[E, T]) batchSize() int {
	const entries, numbers = 1 << 10, 1 << 12
	if m.isDirect() {
		return entries
	}
	return max(1, numbers/m.channels)
}

// batchEnd returns the end of the batch of rows that begins at lo. A batch has at most batchSize
// entries, but at least one row, which may have more.
func (m *move[E, T]) batchEnd(lo, hi int) int {
	most := m.batchSize()
	next := lo + 1
	for first, _ := m.span(lo, next); next < hi; next++ {
		if _, end := m.span(lo, next+1); end-first > most {
			break
		}
	}
	return next
}

// place returns the element of dst at which row i begins.
func (m *move[E, T]) place(i int) int {
	if m.used != nil {
		i = m.used[i]
	}
	return m.to + i*m.dst.row
}

// copyRows copies rows lo to hi-1, each of one entry, bit for bit.
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

// copyListed copies rows of n contiguous elements.
func copyListed[E stored](dst, src []E, list []int, to, from, n int) {
	for i, row := range list {
		copy(dst[i*to:i*to+n], src[row*from:row*from+n])
	}
}

// manyChannels is the number of channels from which copy is faster than a loop.
const manyChannels = 4

// isDirect reports whether the rows of the source can be folded without copying them.
func (m *move[E, T]) isDirect() bool { return m.src.direct != nil && m.shares == nil }

// find finds the rows of entries from to to-1. They begin at elements w.at of w.x.
func (w *worker[E, T, K]) find(m *move[E, T], from, to int) {
	w.at = grown(w.at, to-from)
	for i := range w.at {
		w.at[i] = from + i
	}
	if m.list != nil {
		copy(w.at, m.list[from:to])
	}
	if !m.isDirect() {
		w.loadRows(m)
		return
	}
	w.x = m.src.direct
	for i, row := range w.at {
		w.at[i] = m.from + row*m.src.row
	}
}

// loadRows copies the rows whose numbers are in w.at to w.x, and sets w.at to their positions
// there.
func (w *worker[E, T, K]) loadRows(m *move[E, T]) {
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
