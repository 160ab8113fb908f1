package tensor

import (
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
)

// A footprint is the bytes that one side of a move touches: blocks at distances that dims and lists
// of rows say. It is arithmetic; its size does not depend on how many bytes it spans.
type footprint struct {
	base  int     // of the block at position 0 of each dim
	dims  []pitch // longest stride first
	block int     // bytes
}

// A pitch is one dim of a footprint: at which of its rows there is something, and the bytes between
// neighbours, more than none.
type pitch struct {
	n      int      // rows, if there is no list
	list   *rowList // or nil
	stride int
}

// ends returns the first row of the dim, and the last.
func (d pitch) ends() (first, last int) {
	if d.list == nil {
		return 0, d.n - 1
	}
	return d.list.first, d.list.last
}

// rows returns the rows of the dim, ascending.
func (d pitch) rows() []stretch {
	if d.list == nil {
		return []stretch{{0, d.n}}
	}
	return d.list.ascending()
}

// A stretch is rows that follow one another: from lo up to but not including hi.
type stretch struct{ lo, hi int }

// bounds returns the range of bytes between which the footprint lies.
func (f *footprint) bounds() (low, high int) {
	low, high = f.base, f.base+f.block
	for _, d := range f.dims {
		first, last := d.ends()
		low, high = low+first*d.stride, high+last*d.stride
	}
	return low, high
}

// folded is bounds without the dims whose rows lie a multiple of spacing from one another: every
// byte is a multiple from one within.
func (f *footprint) folded(spacing int) (low, high int) {
	low, high = f.base, f.base+f.block
	for _, d := range f.dims {
		if d.stride%spacing != 0 {
			first, last := d.ends()
			low, high = low+first*d.stride, high+last*d.stride
		}
	}
	return low, high
}

// inner returns what the footprint has at row 0 of its first dim.
func (f *footprint) inner() footprint { return footprint{f.base, f.dims[1:], f.block} }

// moved returns the footprint so many bytes further.
func (f footprint) moved(by int) footprint {
	f.base += by
	return f
}

// A rowList is rows that are listed, by one side of a move. It is sorted on first use.
type rowList struct {
	first, last int
	listed      []int
	sorted      []stretch // made of listed
}

func (l *rowList) ascending() []stretch {
	if l.sorted == nil {
		rows := make([]stretch, len(l.listed))
		for i, row := range l.listed {
			rows[i] = stretch{row, row + 1}
		}
		l.sorted = union(rows)
	}
	return l.sorted
}

// Lists are the same if they begin at the same place and are as long.
type (
	sameRows struct {
		first *int
		n     int
	}
	sameRuns struct {
		first *shapeops.Run
		n     int
	}
)

func rowsID(rows []int) (id sameRows) {
	if len(rows) > 0 {
		id = sameRows{&rows[0], len(rows)}
	}
	return id
}

func runsID(runs []shapeops.Run) (id sameRuns) {
	if len(runs) > 0 {
		id = sameRuns{&runs[0], len(runs)}
	}
	return id
}

// A surveyor makes footprints. A list that several moves share is examined once.
type surveyor struct {
	pitches []pitch
	checked map[rowCheck]error
	rows    map[sameRows]*rowList
	runs    map[sameRuns]*[2]rowList
}

// bounds returns the range of bytes between which one side of a move lies, which must not be empty,
// counted from the start of its memory.
func (s *surveyor) bounds(m *move, to bool) (low, high int) {
	low = m.fromAt
	if to {
		low = m.toStart
	}
	high = low + m.block
	for i := range m.dims.n {
		d := m.dims.at(i)
		first, last, stride := 0, d.n-1, d.from
		if to {
			stride = d.to
		}
		if i == m.picked {
			first, last = pitch{n: d.n, list: s.list(m, to)}.ends()
		}
		if stride < 0 { // what steps backwards
			first, last = last, first
		}
		low, high = low+first*stride, high+last*stride
	}
	return low * m.width, high * m.width
}

// footprint returns that of one side of a move, which must not be empty, with its memory starting
// at byte origin.
func (s *surveyor) footprint(m *move, to bool, origin int) footprint {
	f := footprint{base: origin + m.fromAt*m.width, block: m.block * m.width}
	if to {
		f.base = origin + m.toStart*m.width
	}
	first := len(s.pitches)
	for i := range m.dims.n {
		span := m.dims.at(i)
		d := pitch{n: span.n, stride: span.from * m.width}
		if to {
			d.stride = span.to * m.width
		}
		if i == m.picked {
			d.list = s.list(m, to)
		}
		if d.stride < 0 { // what steps backwards touches the same as what steps forwards
			f.base += (d.n - 1) * d.stride
			d.stride = -d.stride
		}
		if d.stride > 0 && (d.n > 1 || d.list != nil) {
			s.pitches = append(s.pitches, d)
		}
	}
	f.dims = s.pitches[first:len(s.pitches):len(s.pitches)]
	slices.SortStableFunc(f.dims, longestFirst)
	return f
}

func longestFirst(a, b pitch) int { return b.stride - a.stride }

// list returns the rows that one side of a move lists, or nil if it lists none.
func (s *surveyor) list(m *move, to bool) *rowList {
	if m.runs != nil {
		return s.ofRuns(m.runs, to)
	}
	rows := m.fromRows
	if to {
		rows = m.toRows
	}
	if rows == nil {
		return nil
	}
	id := rowsID(rows)
	l, known := s.rows[id]
	if !known {
		l = ofRows(rows)
		if s.rows == nil {
			s.rows = map[sameRows]*rowList{}
		}
		s.rows[id] = l
	}
	return l
}

func ofRows(rows []int) *rowList {
	return &rowList{first: slices.Min(rows), last: slices.Max(rows), listed: rows}
}

// ofRuns returns the rows that runs write or read. One of them at least has rows.
func (s *surveyor) ofRuns(runs []shapeops.Run, to bool) *rowList {
	id := runsID(runs)
	sides, known := s.runs[id]
	if !known {
		sides = &[2]rowList{runList(runs, false), runList(runs, true)}
		if s.runs == nil {
			s.runs = map[sameRuns]*[2]rowList{}
		}
		s.runs[id] = sides
	}
	if to {
		return &sides[1]
	}
	return &sides[0]
}

func runList(runs []shapeops.Run, to bool) rowList {
	l := rowList{first: math.MaxInt}
	for _, r := range runs {
		rows := stretch{r.From, r.From + r.Len}
		if to {
			rows = stretch{r.To, r.To + r.Len}
		}
		if r.Len > 0 {
			l.first, l.last = min(l.first, rows.lo), max(l.last, rows.hi-1)
			l.sorted = append(l.sorted, rows)
		}
	}
	l.sorted = union(l.sorted)
	return l
}

// union sorts stretches and joins those that meet, in place.
func union(list []stretch) []stretch {
	if !slices.IsSortedFunc(list, byLow) {
		slices.SortFunc(list, byLow)
	}
	out := list[:1]
	for _, next := range list[1:] {
		if last := &out[len(out)-1]; next.lo <= last.hi {
			last.hi = max(last.hi, next.hi)
		} else {
			out = append(out, next)
		}
	}
	return out
}

func byLow(a, b stretch) int { return a.lo - b.lo }
