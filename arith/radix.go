package arith

import (
	"math/bits"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
)

// uints is the set of key types: unsigned integers as wide as the elements.
type uints interface {
	uint8 | uint16 | uint32 | uint64
}

const (
	digitBits = 11 // bits that a pass sorts by: the heads of 1<<11 buckets fit in a small cache
	digits    = 1 << digitBits
	fewKeys   = 128 // up to this length, sorting by comparison is faster than counting digits
)

// survey returns the least and the greatest key of at least one, and whether the keys ascend.
func survey[K uints](keys []K) (low, high K, ascending bool) {
	low, high = keys[0], keys[len(keys)-1]
	if slices.IsSorted(keys) {
		return low, high, true
	}
	for _, k := range keys {
		low, high = min(low, k), max(high, k)
	}
	return low, high, false
}

// counters count how often each value of each digit occurs.
type counters [][digits]int

// sortKeys sorts keys. The result is in keys or in room, which is equally long and is overwritten.
func sortKeys[K uints](keys, room []K, c *counters) []K {
	if len(keys) <= fewKeys {
		slices.Sort(keys)
		return keys
	}
	low, high, ascending := survey(keys)
	if ascending {
		return keys
	}
	sorted, _ := radixSort(keys, room, low, 0, bits.Len64(uint64(high-low)), c)
	return sorted
}

// radixSort sorts keys by the width bits of key-low from bit shift on. It is stable. It returns
// keys and room, swapped if the result is in room.
func radixSort[K uints](keys, room []K, low K, shift, width int, c *counters) (sorted, other []K) {
	n := (width + digitBits - 1) / digitBits
	if len(*c) < n {
		*c = make(counters, n)
	} else {
		clear((*c)[:n])
	}
	counts := (*c)[:n]
	countDigits(counts, keys, low, shift)
each:
	for i := range counts {
		starts, at := &counts[i], 0 // the position at which the first key with each value goes
		for v, count := range starts {
			if count == len(keys) { // all keys have this value
				continue each
			}
			starts[v] = at
			at += count
		}
		from := (shift + i*digitBits) & 63
		for _, k := range keys {
			d := uint64(k-low) >> from % digits
			room[starts[d]] = k
			starts[d]++
		}
		keys, room = room, keys
	}
	return keys, room
}

// countDigits counts how often each digit of keys has each value.
func countDigits[K uints](counts [][digits]int, keys []K, low K, shift int) {
	for len(counts) >= 3 { // three digits at a time, since reading the keys dominates
		a, b, c := &counts[0], &counts[1], &counts[2]
		for _, k := range keys {
			k := uint64(k-low) >> (shift & 63)
			a[k%digits]++
			b[k>>digitBits%digits]++
			c[k>>(2*digitBits)%digits]++
		}
		counts, shift = counts[3:], shift+3*digitBits
	}
	for i := range counts {
		at := (shift + i*digitBits) & 63
		for _, k := range keys {
			counts[i][uint64(k-low)>>at%digits]++
		}
	}
}

// A table provides the elements of rows as sort keys, from the first element on.
type table interface {
	// elements returns the number of elements of a row.
	elements() int
	// differ returns a number of leading elements, at least from, in which all rows are equal.
	differ(rows []int64, from int) int
	// keys sets dst[i] to the key of elements from to to-1 of rows[i]. Equal elements have equal
	// keys.
	keys(dst []uint64, rows []int64, from int) (to int)
}

// A run is a range of sorted rows, positions lo to hi-1, that are equal in their first equal
// elements of a table.
type run struct{ lo, hi, equal int }

// A rowSort sorts rows by one table after another. It is stable.
type rowSort struct {
	rows       []int64 // sorted by the tables so far
	ties       []run   // runs of several rows that are equal in all tables so far, ascending
	untied     bool    // ties are not needed, since there is only one table
	open       []run   // runs to be sorted, the next one last
	fresh      bool    // rows[i] is i
	keys, room []uint64
	counters   counters
}

// reset begins a new sort and sets rows to 0, 1, 2, ...
func (s *rowSort) reset(rows []int64) {
	for i := range rows {
		rows[i] = int64(i)
	}
	s.rows, s.fresh, s.ties = rows, true, s.ties[:0]
	if len(rows) > 1 {
		s.ties = append(s.ties, run{hi: len(rows)})
	}
	if len(s.keys) < len(rows) {
		s.keys, s.room = cast.UninitOf[uint64](len(rows)), cast.UninitOf[uint64](len(rows))
	}
}

// by sorts rows that are equal so far by another table. It finishes one run before the next, while
// the rows are in the cache.
func (s *rowSort) by(t table) {
	s.open = append(s.open[:0], s.ties...)
	slices.Reverse(s.open)
	s.ties = s.ties[:0]
	for len(s.open) > 0 {
		last := len(s.open) - 1
		r := s.open[last]
		s.open = s.open[:last]
		r.equal = t.differ(s.rows[r.lo:r.hi], r.equal)
		if r.equal == t.elements() {
			s.ties = append(s.ties, run{lo: r.lo, hi: r.hi})
			continue
		}
		s.sortRun(t, r)
		slices.Reverse(s.open[last:])
	}
}

// sortRun sorts a run by the next key of t, and opens the runs of equal keys. A key and the
// position of its row share 64 bits, which makes keys distinct and the sort stable. Keys too wide
// for that are sorted by their upper bits first; runs that are equal in those are opened again.
func (s *rowSort) sortRun(t table, r run) {
	rows, keys := s.rows[r.lo:r.hi], s.keys[r.lo:r.hi]
	equal := t.keys(keys, rows, r.equal)
	low, high, ascending := survey(keys)
	if ascending {
		s.fresh = false
		s.split(keys, 0, run{lo: r.lo, equal: equal}, t)
		return
	}
	place, width := bits.Len(uint(len(keys)-1)), bits.Len64(high-low)
	drop := max(0, width+place-64)
	for i, k := range keys {
		keys[i] = (k-low)>>drop<<place | uint64(i)
	}
	sorted, room := keys, s.room[r.lo:r.hi]
	if len(keys) <= fewKeys {
		slices.Sort(keys)
	} else { // the bits of the position ascend already
		sorted, room = radixSort(keys, room, 0, place, width-drop, &s.counters)
	}
	mask := uint64(1)<<place - 1
	if s.fresh { // rows[i] is i
		for i, k := range sorted {
			rows[i] = int64(k & mask)
		}
	} else {
		for i, row := range rows {
			room[i] = uint64(row)
		}
		for i, k := range sorted {
			rows[i] = int64(room[k&mask])
		}
	}
	s.fresh = false
	if drop > 0 {
		equal = r.equal
	}
	s.split(sorted, place, run{lo: r.lo, equal: equal}, t)
}

// split opens the runs of rows whose keys are equal in all but the lower bits. first.lo is the
// position of the first row, and first.equal the number of equal elements of each run.
func (s *rowSort) split(sorted []uint64, lower int, first run, t table) {
	if s.untied && first.equal == t.elements() {
		return
	}
	for i := 0; i < len(sorted); {
		head, end := sorted[i]>>lower, i+1
		for end < len(sorted) && sorted[end]>>lower == head {
			end++
		}
		if end > i+1 {
			s.open = append(s.open, run{first.lo + i, first.lo + end, first.equal})
		}
		i = end
	}
}
