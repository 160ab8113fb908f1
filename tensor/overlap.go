package tensor

import (
	"fmt"
	"slices"
)

var (
	errOverlap  = fmt.Errorf("%w: clone the source first", ErrOverlap)
	errCrossing = fmt.Errorf("%w: one copy reads what another writes: clone the source first", ErrOverlap)
	errUnknown  = fmt.Errorf("%w, or it takes too long to find out: clone the source first", ErrOverlap)
)

// checkOverlap returns ErrOverlap if the move writes an element that it also reads, unless each
// such element is copied onto itself.
func (m *move) checkOverlap() error {
	distance, shared := shift(m.to, m.from)
	if !shared || m.bytes() == 0 {
		return nil
	}
	var s surveyor
	to, from := s.footprint(m, true, 0), s.footprint(m, false, distance)
	if low, high := to.bounds(); !reach(from, low, high) {
		return nil
	}
	if by, ok := m.rowsApart(&s, distance); ok {
		return m.checkRows(by)
	}
	steps := mostSteps
	return compare(to, from, &steps).err()
}

func reach(f footprint, low, high int) bool {
	first, end := f.bounds()
	return first < high && low < end
}

func (v verdict) err() error {
	return [...]error{apart: nil, overlap: errOverlap, unknown: errUnknown}[v]
}

// crossing is err of two copies.
func (v verdict) crossing() error {
	if v == overlap {
		return errCrossing
	}
	return v.err()
}

// rowsApart reports whether the two sides are spaced alike and whole rows of the listed dim apart,
// which then is how many, so that elements meet only where rows do. Without a listed dim, the sides
// must be one.
func (m *move) rowsApart(s *surveyor, shift int) (by int, ok bool) {
	distance := m.toStart*m.width - m.fromAt*m.width - shift
	f := footprint{block: m.block * m.width}
	for i := range m.dims.n {
		d := m.dims.at(i)
		stride := d.to * m.width
		if d.to != d.from || d.to == 0 && d.n > 1 {
			return 0, false
		}
		p := pitch{n: d.n, stride: stride}
		if i == m.picked && stride > 0 {
			by = distance / stride
			distance -= by * stride
			p.list = m.reached(s, by)
		}
		f.dims = append(f.dims, p)
	}
	slices.SortStableFunc(f.dims, longestFirst)
	return by, distance == 0 && nested(f)
}

// reached returns the first and the last row of the listed dim that either side reaches, if what is
// written counts by rows further.
func (m *move) reached(s *surveyor, by int) *rowList {
	n := m.dims.at(m.picked).n
	toFirst, toLast := pitch{n: n, list: s.list(m, true)}.ends()
	fromFirst, fromLast := pitch{n: n, list: s.list(m, false)}.ends()
	return &rowList{first: min(toFirst+by, fromFirst), last: max(toLast+by, fromLast)}
}

// nested reports whether rows of a dim do not reach into one another, at any depth.
func nested(f footprint) bool {
	for len(f.dims) > 0 {
		in := f.inner()
		if low, high := in.bounds(); high-low > f.dims[0].stride {
			return false
		}
		f = in
	}
	return true
}

// A pair is a stretch of rows on both sides of a move, with its number.
type pair struct{ to, from stretch }

// checkRows returns ErrOverlap if a row is written, counted by rows further, that another one is
// read from.
func (m *move) checkRows(by int) error {
	pairs, n := m.pairs(by)
	if pairs == nil {
		if by == 0 || n <= max(by, -by) {
			return nil
		}
		return errOverlap
	}
	order := make([]int, len(pairs))
	for i := range order {
		order[i] = i
	}
	written := slices.Clone(order)
	slices.SortFunc(order, func(a, b int) int { return pairs[a].from.lo - pairs[b].from.lo })
	slices.SortFunc(written, func(a, b int) int { return pairs[a].to.lo - pairs[b].to.lo })
	return sweepPairs(pairs, written, order)
}

// pairs returns the rows of the listed dim, each with where it is written, or nil and their number
// if rows are not listed.
func (m *move) pairs(by int) (pairs []pair, n int) {
	if m.picked == noDim {
		return nil, 0
	}
	for _, r := range m.runs {
		if r.Len > 0 {
			pairs = append(pairs, pair{stretch{r.To + by, r.To + by + r.Len}, stretch{r.From, r.From + r.Len}})
		}
	}
	n = m.dims.at(m.picked).n
	if m.runs != nil || m.toRows == nil && m.fromRows == nil {
		return pairs, n
	}
	pairs = make([]pair, n)
	for i := range pairs {
		to, from := row(m.toRows, i)+by, row(m.fromRows, i)
		pairs[i] = pair{stretch{to, to + 1}, stretch{from, from + 1}}
	}
	return pairs, n
}

// sweepPairs returns ErrOverlap if what one pair writes another reads, or itself elsewhere, given
// the pairs by where they write and by where they read. Pairs that write the same rows both go on.
func sweepPairs(pairs []pair, written, read []int) error {
	next := 0
	var open []int // pairs read that may reach what is written next
	for _, w := range written {
		to := pairs[w].to
		if to == pairs[w].from {
			continue // nothing changes
		}
		for next < len(read) && pairs[read[next]].from.lo < to.hi {
			open = append(open, read[next])
			next++
		}
		open = slices.DeleteFunc(open, func(r int) bool { return pairs[r].from.hi <= to.lo })
		for _, r := range open {
			if pairs[r].from.lo < to.hi {
				return errOverlap
			}
		}
	}
	return nil
}
