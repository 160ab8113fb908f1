package tensor

import "slices"

// A footprint is the set of bytes that one side of a move touches: blocks, repeated along dims and
// listed rows. It is computed by arithmetic; its size does not depend on the bytes that it spans.
type footprint struct {
	base  int     // first byte of the block at row 0 of each dim
	block int     // size of a block in bytes
	dims  []pitch // dims of more than one row, longest stride first
}

// footprints is memory for the dims and the rows of footprints.
type footprints struct {
	dims []pitch
	rows []stretch
}

// A pitch is one dim of a footprint: the stride in bytes, which is positive, and the rows.
type pitch struct {
	stride int
	hull   stretch   // from the first row to the last
	list   []stretch // the rows, or nil for all rows of hull
}

// A stretch is the rows from lo up to but not including hi.
type stretch struct{ lo, hi int }

// footprint returns the footprint of one side of a move, which must not be empty. The memory begins
// at byte origin. Dims and rows are appended to all.
func (m *move) footprint(to bool, origin int, all *footprints) footprint {
	f := footprint{base: origin + m.fromAt*m.width, block: m.block * m.width}
	if to {
		f.base = origin + m.toStart*m.width
	}
	first := len(all.dims)
	for i := range m.dims.n {
		d := m.dims.at(i)
		p := pitch{stride: d.from * m.width, hull: stretch{0, d.n}}
		if to {
			p.stride = d.to * m.width
		}
		if i == m.picked {
			p.pick(m.pickedRows(to, all))
		}
		if p.stride < 0 { // stepping backwards touches the same bytes
			p.turn()
		}
		if p.hull.hi-p.hull.lo == 1 {
			f.base += p.hull.lo * p.stride
		} else if p.stride > 0 {
			all.dims = append(all.dims, p)
		}
	}
	f.dims = all.dims[first:len(all.dims):len(all.dims)]
	slices.SortStableFunc(f.dims, func(a, b pitch) int { return b.stride - a.stride })
	return f
}

// pickedRows returns the rows that one side of a move lists, or nil if it has no list.
func (m *move) pickedRows(to bool, all *footprints) []stretch {
	rows, start := m.fromRows, len(all.rows)
	if to {
		rows = m.toRows
	}
	for _, row := range rows {
		all.rows = append(all.rows, stretch{row, row + 1})
	}
	for _, r := range m.runs {
		first := r.From
		if to {
			first = r.To
		}
		if r.Len > 0 {
			all.rows = append(all.rows, stretch{first, first + r.Len})
		}
	}
	return all.rows[start:len(all.rows):len(all.rows)]
}

// pick sets the dim's rows, unless rows is nil.
func (d *pitch) pick(rows []stretch) {
	if len(rows) == 0 {
		return
	}
	d.list, d.hull = rows, rows[0]
	for _, s := range rows {
		d.hull = stretch{min(d.hull.lo, s.lo), max(d.hull.hi, s.hi)}
	}
}

// turn reverses the order of the dim's rows.
func (d *pitch) turn() {
	d.stride, d.hull = -d.stride, d.hull.turned()
	for i, s := range d.list {
		d.list[i] = s.turned()
	}
}

func (s stretch) turned() stretch { return stretch{1 - s.hi, 1 - s.lo} }

// bounds returns the range of bytes that the footprint spans. Dims whose stride is a multiple of
// spacing are left out, unless spacing is 0.
func (f *footprint) bounds(spacing int) (low, high int) {
	low, high = f.base, f.base+f.block
	for _, d := range f.dims {
		if spacing == 0 || d.stride%spacing != 0 {
			low, high = low+d.hull.lo*d.stride, high+(d.hull.hi-1)*d.stride
		}
	}
	return low, high
}

// apart reports whether two footprints provably share no byte. Either their bounds are apart, or,
// dim by dim with equal strides, they touch different parts of the stride or different rows.
func (f footprint) apart(g footprint) bool {
	low, high := f.bounds(0)
	gLow, gHigh := g.bounds(0)
	if high <= gLow || gHigh <= low {
		return true
	}
	stride := max(f.stride(), g.stride())
	if stride == 0 {
		return false
	}
	rows, gRows := f.split(stride), g.split(stride)
	low, high = f.bounds(0)
	gLow, gHigh = g.bounds(0)
	if high-low > stride || gHigh-gLow > stride {
		return false // rows overlap one another
	}
	first := floorDiv(gLow-low, stride)
	for by := first; by <= first+1; by++ { // may row i of g overlap row i+by of f?
		moved := g
		moved.base -= by * stride
		if !f.apart(moved) && rows.meets(gRows, by) {
			return false
		}
	}
	return true
}

// stride returns the longest stride, or 0 for a single block.
func (f *footprint) stride() int {
	if len(f.dims) == 0 {
		return 0
	}
	return f.dims[0].stride
}

// split removes the dim with a stride from the footprint and returns it. If there is none, it
// returns a dim with row 0.
func (f *footprint) split(stride int) pitch {
	if f.stride() != stride {
		return pitch{stride: stride, hull: stretch{0, 1}}
	}
	d := f.dims[0]
	f.dims = f.dims[1:]
	return d
}

// meets reports whether a row of d, counted from row by, is a row of e.
func (d pitch) meets(e pitch, by int) bool {
	if d.hull.hi <= e.hull.lo+by || e.hull.hi+by <= d.hull.lo {
		return false
	}
	if d.list == nil && e.list == nil {
		return true
	}
	a, b := d.rows(), e.rows()
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].hi <= b[0].lo+by:
			a = a[1:]
		case b[0].hi+by <= a[0].lo:
			b = b[1:]
		default:
			return true
		}
	}
	return false
}

// rows returns the rows of the dim, sorted.
func (d pitch) rows() []stretch {
	if d.list == nil {
		return []stretch{d.hull}
	}
	byLow := func(a, b stretch) int { return a.lo - b.lo }
	if !slices.IsSortedFunc(d.list, byLow) {
		slices.SortFunc(d.list, byLow)
	}
	return d.list
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}
