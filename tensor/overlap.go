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
func (m *move) checkOverlap(s *surveyor) error {
	distance, shared := shift(m.to, m.from)
	if !shared || m.bytes() == 0 {
		return nil
	}
	s.pitches = s.pitches[:0]
	to, from := s.footprint(m, true, 0), s.footprint(m, false, distance)
	if low, high := to.bounds(); !reach(from, low, high) {
		return nil
	}
	if l, ok := m.lattice(s, distance); ok {
		return s.checkRows(m, l)
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

// A lattice is what the listed rows of both sides of a move lie on: a row of the destination is so
// many units, one of the source so many, and what is written counts by units further.
type lattice struct{ to, from, by int }

// lattice reports whether the two sides are spaced alike and whole units apart, so that elements
// meet only where rows do. Without a listed dim, the sides must be one.
func (m *move) lattice(s *surveyor, shift int) (l lattice, ok bool) {
	distance := m.toStart*m.width - m.fromAt*m.width - shift
	f := footprint{block: m.block * m.width}
	for i := range m.dims.n {
		d := m.dims.at(i)
		p := pitch{n: d.n, stride: d.to * m.width}
		if unit := gcd(d.to, d.from); i == m.picked && unit > 0 {
			p.stride = unit * m.width
			l = lattice{d.to / unit, d.from / unit, distance / p.stride}
			distance -= l.by * p.stride
			p.list = m.reached(s, l)
		} else if d.to != d.from || d.to == 0 && d.n > 1 {
			return l, false
		}
		f.dims = append(f.dims, p)
	}
	slices.SortStableFunc(f.dims, longestFirst)
	return l, distance == 0 && nested(f) && (m.runs == nil || l.to == l.from)
}

// reached returns the first and the last unit that either side reaches.
func (m *move) reached(s *surveyor, l lattice) *rowList {
	n := m.dims.at(m.picked).n
	toFirst, toLast := pitch{n: n, list: s.list(m, true)}.ends()
	fromFirst, fromLast := pitch{n: n, list: s.list(m, false)}.ends()
	return &rowList{
		first: min(toFirst*l.to+l.by, fromFirst*l.from),
		last:  max(toLast*l.to+l.by, fromLast*l.from),
	}
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

// A rowCheck is all that the result of checkRows depends on.
type rowCheck struct {
	lattice
	to, from sameRows
	runs     sameRuns
	n        int
}

// checkRows returns ErrOverlap if a row is written that another one is read from. Moves of the same
// rows are checked once.
func (s *surveyor) checkRows(m *move, l lattice) error {
	if m.picked == noDim {
		return nil // each element is copied onto itself
	}
	id := rowCheck{l, rowsID(m.toRows), rowsID(m.fromRows), runsID(m.runs), m.dims.at(m.picked).n}
	err, known := s.checked[id]
	if !known {
		pairs, written, read := m.pairs(l)
		err = sweepPairs(pairs, written, read)
		if s.checked == nil {
			s.checked = map[rowCheck]error{}
		}
		s.checked[id] = err
	}
	return err
}

// pairs returns the rows of the listed dim, each with where it is written, in units, and their
// numbers by where they are written and by where they are read.
func (m *move) pairs(l lattice) (pairs []pair, written, read []int) {
	for _, r := range m.runs {
		if r.Len > 0 {
			to, from := r.To+l.by, r.From
			pairs = append(pairs, pair{stretch{to, to + r.Len}, stretch{from, from + r.Len}})
		}
	}
	if m.runs == nil {
		pairs = make([]pair, m.dims.at(m.picked).n)
		for i := range pairs {
			to, from := row(m.toRows, i)*l.to+l.by, row(m.fromRows, i)*l.from
			pairs[i] = pair{stretch{to, to + 1}, stretch{from, from + 1}}
		}
	}
	for i := range pairs {
		read = append(read, i)
	}
	written = slices.Clone(read)
	slices.SortFunc(read, func(a, b int) int { return pairs[a].from.lo - pairs[b].from.lo })
	slices.SortFunc(written, func(a, b int) int { return pairs[a].to.lo - pairs[b].to.lo })
	return pairs, written, read
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
