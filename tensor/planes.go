package tensor

import "github.com/go-tensordict/tensordict/internal/transpose"

// Where planes pay, as measured beside the walk.
const (
	// leastPlane is the number of bytes from which a plane is copied by package transpose. A
	// smaller one stays in the first-level cache in any order.
	leastPlane = 4 << 10
	// leastFar is the number of bytes that a column spans in the source, and leastLines its number
	// of items, from which the caches do not keep its lines until the next column.
	leastFar   = 32 << 20
	leastLines = 16 << 10
	// setBytes divides the distance of lines that compete for one set of the first-level cache.
	setBytes = 4 << 10
	// leastCols is the least number of columns of any plane.
	leastCols = 4
)

// planes copies a move as transposed planes: one dim is contiguous in the destination, another one
// in the source.
type planes struct {
	*move
	plane    transpose.Plane
	row, col int // dims along a row of the source, and of the destination
}

// byPlanes does positions lo to hi of the outermost dim as planes, and reports whether it did. The
// two contiguous dims form the plane, and the others stay outside, in their order: a plane is large
// enough for that order not to matter.
func (m *move) byPlanes(to, from []byte, lo, hi int) bool {
	p := planes{move: m, row: noDim, col: noDim}
	for i := range m.dims.n {
		switch d := m.dims.at(i); m.block {
		case d.to:
			p.col = i
		case d.from:
			p.row = i
		}
	}
	if p.row == noDim || p.col == noDim {
		return false
	}
	sizes := m.dims
	sizes.at(0).n = hi - lo
	rows, cols, width := sizes.at(p.row), sizes.at(p.col), m.block*m.width
	if cols.from == 0 || cols.n < leastCols || rows.n*cols.n*width < leastPlane || !m.planesPay(rows.n, *cols) {
		return false
	}
	p.plane = transpose.Plane{
		To:   transpose.Side{Bytes: to, Pitch: rows.to * m.width},
		From: transpose.Side{Bytes: from, Pitch: cols.from * m.width},
		Rows: rows.n, Cols: cols.n, Width: width,
	}
	d := m.dims.at(0)
	p.dim(&sizes, 0, m.toStart+lo*d.to, m.fromAt+lo*d.from)
	return true
}

// planesPay reports whether planes with the given number of rows, and such columns, are faster than
// the walk. The walk is slow where it copies items of several elements, and where the lines of a
// column leave the cache before the next column; otherwise rows of few or wide items cost more than
// they save.
func (m *move) planesPay(rows int, cols span) bool {
	width, pitch := m.block*m.width, max(cols.from, -cols.from)*m.width
	far := pitch*cols.n >= leastFar || cols.n >= leastLines
	switch even := width&(width-1) == 0; {
	case width > transpose.MaxWidth:
		return false
	case !even: // each item is copied by itself
		return far && cols.n >= 1024 && rows*width >= 128
	case m.block > 1:
		return rows >= 4
	case width <= 4:
		return rows >= 8
	}
	return cols.n >= 32 && (far && rows*width >= 128 || pitch%setBytes == 0 && rows >= 32)
}

// dim copies all positions of a dim and the dims inside it. to and from are the elements at its
// position 0.
func (p *planes) dim(sizes *spans, i, to, from int) {
	switch {
	case i == sizes.n:
		p.plane.To.At, p.plane.From.At = to*p.width, from*p.width
		p.plane.Copy()
	case i == p.row || i == p.col:
		p.dim(sizes, i+1, to, from)
	default:
		d := sizes.at(i)
		for range d.n {
			p.dim(sizes, i+1, to, from)
			to, from = to+d.to, from+d.from
		}
	}
}
