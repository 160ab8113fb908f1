package tensor

import "github.com/go-tensordict/tensordict/internal/transpose"

// leastPlane is the number of bytes from which a plane is copied by package transpose. A smaller one
// stays in the first-level cache in any order.
const leastPlane = 4 << 10

// leastSide is the least number of items of a row, and of a column, of such a plane.
const leastSide = 4

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
	if cols.from == 0 || rows.n < leastSide || cols.n < leastSide || rows.n*cols.n*width < leastPlane || width > transpose.MaxWidth {
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
