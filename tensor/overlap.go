package tensor

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
)

var errOverlap = fmt.Errorf("%w: clone the source first", ErrOverlap)

// checkOverlap returns ErrOverlap if the move writes an element that it also reads, unless each such element is
// copied onto itself.
func (m *move) checkOverlap() error {
	shift, shared := shift(m.to, m.from)
	if !shared || m.bytes() == 0 || m.identity(shift) {
		return nil
	}
	hit, known := m.meetAlike(shift)
	if !known {
		hit = meet(m.region(true), m.region(false), shift)
	}
	if hit {
		return errOverlap
	}
	return nil
}

// meetAlike reports whether the two sides share a byte if their elements are spaced alike, as those of two columns of one
// tensor are; otherwise it is not known. They do if the distance between them is one between two bytes of one side.
func (m *move) meetAlike(shift int) (hit, known bool) {
	if m.rows != nil {
		return false, false
	}
	dims := []span{{n: m.block * m.width, to: 1}} // in bytes; to is the stride
	for i := range m.dims.n {
		d := m.dims.at(i)
		if d.to != d.from || d.to == 0 {
			return false, false
		}
		dims = append(dims, span{n: d.n, to: d.to * m.width})
	}
	slices.SortFunc(dims, func(a, b span) int { return b.to - a.to })
	return reaches(dims, m.fromAt*m.width+shift-m.toStart*m.width), true
}

// reaches reports whether a distance is a sum of strides, each taken less than n times forwards or backwards. The strides
// descend; each is mostly longer than what those behind it reach, which leaves one or two ways to try.
func reaches(dims []span, distance int) bool {
	if len(dims) == 0 {
		return distance == 0
	}
	rest := 0
	for _, d := range dims[1:] {
		rest += (d.n - 1) * d.to
	}
	d := dims[0]
	first, last := (distance-rest)/d.to-1, (distance+rest)/d.to+1
	for k := max(first, 1-d.n); k <= min(last, d.n-1); k++ {
		if far := distance - k*d.to; -rest <= far && far <= rest && reaches(dims[1:], far) {
			return true
		}
	}
	return false
}

// checkCrossing returns ErrOverlap if one of the moves reads what another writes, so that the result would depend on
// their order.
func checkCrossing(moves []*move) error {
	written, lent := writtenStretches(moves)
	for _, m := range moves {
		if m.bytes() == 0 {
			continue
		}
		if m.from.lender != nil {
			for _, other := range lent {
				if m.reads(other) {
					return errOverlap
				}
			}
			continue
		}
		low, high := m.stretch(false)
		n, _ := slices.BinarySearchFunc(written, high, func(w stretch, at uintptr) int { return cmp.Compare(w.low, at) })
		for i := n - 1; i >= 0 && written[i].reach > low; i-- {
			if written[i].high > low && m.reads(written[i].by) {
				return errOverlap
			}
		}
	}
	return nil
}

// A stretch is the addresses that a move writes, and the highest that it or one before it in a list reaches.
type stretch struct {
	low, high, reach uintptr
	by               *move
}

// writtenStretches returns what the moves write in Go memory, by address, and the moves that write lent memory. What is
// written to memory of a Transfer's own is left out.
func writtenStretches(moves []*move) (written []stretch, lent []*move) {
	written = make([]stretch, 0, len(moves))
	for _, m := range moves {
		switch {
		case m.bytes() == 0 || m.private:
		case m.to.lender != nil:
			lent = append(lent, m)
		default:
			low, high := m.stretch(true)
			written = append(written, stretch{low: low, high: high, by: m})
		}
	}
	slices.SortFunc(written, func(a, b stretch) int { return cmp.Compare(a.low, b.low) })
	reach := uintptr(0)
	for i := range written {
		reach = max(reach, written[i].high)
		written[i].reach = reach
	}
	return written, lent
}

// stretch returns the addresses between which one side of the move lies in Go memory.
func (m *move) stretch(to bool) (low, high uintptr) {
	mem := m.from
	if to {
		mem = m.to
	}
	first, end := m.bounds(to)
	base := cast.Address(mem.bytes)
	return base + uintptr(first*m.width), base + uintptr(end*m.width)
}

// reads reports whether m reads an element that another move writes.
func (m *move) reads(other *move) bool {
	shift, shared := shift(other.to, m.from)
	return m != other && shared && meet(other.region(true), m.region(false), shift)
}

// shift returns how many bytes b lies behind a, and whether they are one memory.
func shift(a, b memory) (int, bool) {
	if a.lender != nil || b.lender != nil {
		return 0, sameLender(a.lender, b.lender)
	}
	return cast.Shift(a.bytes, b.bytes)
}

// A region is the elements of one side of a move.
type region struct {
	low, high int // between which they lie
	width     int // bytes of one
	each      func(fn func(element int))
}

func (m *move) region(to bool) region {
	low, high := m.bounds(to)
	return region{low, high, m.width, func(fn func(int)) { m.each(to, fn) }}
}

// meet reports whether an element of a and one of b share a byte. b's memory lies shift bytes behind that of a.
func meet(a, b region, shift int) bool {
	size := (a.high - a.low) * a.width
	at := func(element int) int { return element*b.width + shift - a.low*a.width } // bytes, from the first of a on
	if at(b.low) >= size || at(b.high) <= 0 {
		return false
	}
	taken := make([]bool, size)
	a.each(func(element int) {
		for i := range a.width {
			taken[(element-a.low)*a.width+i] = true
		}
	})
	hit := false
	b.each(func(element int) {
		for i := at(element); i < at(element)+b.width; i++ {
			hit = hit || i >= 0 && i < size && taken[i]
		}
	})
	return hit
}

// identity reports whether every element is copied onto itself.
func (m *move) identity(shift int) bool {
	for i := range m.dims.n {
		if d := m.dims.at(i); d.to != d.from {
			return false
		}
	}
	return m.rows == nil && m.toStart*m.width == m.fromAt*m.width+shift
}

// bounds returns the range of elements of one side that the move reaches.
func (m *move) bounds(to bool) (low, high int) {
	low = m.fromAt
	if to {
		low = m.toStart
	}
	high = low + m.block
	for i := range m.dims.n {
		d := m.dims.at(i)
		stride, last, first := d.from, d.n-1, 0
		if to {
			stride = d.to
		}
		if m.rows != nil && i == m.picked && to == m.scatter {
			first, last = rowBounds(m.rows)
		}
		low, high = low+first*stride, high+last*stride
	}
	return low, high
}

func rowBounds(rows []int) (low, high int) {
	low, high = rows[0], rows[0]
	for _, row := range rows {
		low, high = min(low, row), max(high, row)
	}
	return low, high
}

// each calls fn with every element of one side.
func (m *move) each(to bool, fn func(element int)) {
	start := m.fromAt
	if to {
		start = m.toStart
	}
	m.eachDim(to, 0, start, fn)
}

func (m *move) eachDim(to bool, dim, start int, fn func(element int)) {
	if dim == m.dims.n {
		for i := range m.block {
			fn(start + i)
		}
		return
	}
	d := m.dims.at(dim)
	for i := range d.n {
		if m.rows != nil && dim == m.picked && to == m.scatter {
			i = m.rows[i]
		}
		if to {
			m.eachDim(to, dim+1, start+i*d.to, fn)
		} else {
			m.eachDim(to, dim+1, start+i*d.from, fn)
		}
	}
}
