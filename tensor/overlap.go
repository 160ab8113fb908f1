package tensor

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
)

// checkOverlap returns ErrOverlap if the move writes an element that it also reads, unless each such element is
// copied onto itself.
func (m *move) checkOverlap() error { return m.checkApart(func() region { return m.region(true) }) }

// checkOutside returns ErrOverlap if the move, which writes a part of a view, reads an element of any part of it, unless
// each element is copied onto itself.
func (m *move) checkOutside(whole shapeops.View) error {
	return m.checkApart(func() region {
		low, high := whole.Bounds()
		return region{low, high, func(fn func(int)) {
			for element := range whole.Offsets() {
				fn(element)
			}
		}}
	})
}

// A region is a set of elements within bounds.
type region struct {
	low, high int
	each      func(fn func(element int))
}

func (m *move) region(to bool) region {
	low, high := m.bounds(to)
	return region{low, high, func(fn func(int)) { m.each(to, fn) }}
}

// checkApart returns ErrOverlap if the move reads an element of the region, which lies in the memory that it writes.
func (m *move) checkApart(written func() region) error {
	shift, shared := m.shift()
	if !shared || m.bytes() == 0 || m.identity(shift) {
		return nil
	}
	to, from := written(), m.region(false)
	at := func(element int) int { return (element-to.low)*m.width + shift } // bytes, from the first of to on
	if size := (to.high - to.low) * m.width; at(from.low) >= size || at(from.high) <= 0 {
		return nil
	}
	taken := make([]bool, (to.high-to.low)*m.width)
	to.each(func(element int) {
		for b := range m.width {
			taken[(element-to.low)*m.width+b] = true
		}
	})
	hit := false
	from.each(func(element int) {
		for b := range m.width {
			i := at(element) + b
			hit = hit || i >= 0 && i < len(taken) && taken[i]
		}
	})
	if hit {
		return fmt.Errorf("%w: clone the source first", ErrOverlap)
	}
	return nil
}

// shift returns how many bytes the memory read lies behind that written, and whether they are one.
func (m *move) shift() (int, bool) {
	if m.to.lender != nil || m.from.lender != nil {
		return 0, m.to.lender == m.from.lender
	}
	return cast.Shift(m.to.bytes, m.from.bytes)
}

// identity tells whether every element is copied onto itself.
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
