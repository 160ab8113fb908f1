package arith

import (
	"math/bits"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
)

// uints is the set of types that keys have: unsigned integers as wide as the elements.
type uints interface {
	uint8 | uint16 | uint32 | uint64
}

const (
	digitBits = 11 // a pass sorts by so many bits: the heads of 1<<11 buckets fit in a small cache
	digits    = 1 << digitBits
	fewKeys   = 128 // up to which a sort by comparison is faster than counting digits
)

// survey returns the least and the greatest of keys, of which there is at least one, and whether
// none is less than the one before it.
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

// counters are room for the counts of digits, each of which has 1<<digitBits values.
type counters [][digits]int

// of returns counters of so many digits.
func (c *counters) of(n int) counters {
	if len(*c) < n {
		*c = make(counters, n)
		return *c
	}
	clear((*c)[:n])
	return (*c)[:n]
}

// sortKeys sorts keys. The result is keys or room, which is as long and whose content is lost.
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

// radixSort sorts keys by the width bits from bit shift on of what they are above low, keeping the
// order of those that are equal there. It returns keys and room, swapped if the result is in room.
func radixSort[K uints](keys, room []K, low K, shift, width int, c *counters) (sorted, other []K) {
	counts := c.of((width + digitBits - 1) / digitBits)
	countDigits(counts, keys, low, shift)
	for i := range counts {
		if startsOf(&counts[i], len(keys)) {
			scatter(room, keys, low, shift+i*digitBits, &counts[i])
			keys, room = room, keys
		}
	}
	return keys, room
}

// countDigits counts how often each digit of keys has each value.
func countDigits[K uints](counts [][digits]int, keys []K, low K, shift int) {
	for len(counts) >= 3 { // three at a time: reading the keys is what takes time
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

// startsOf turns the counts of a digit's values into where the first key of each goes. It returns
// false if all n keys have the same value.
func startsOf(counts *[digits]int, n int) bool {
	at := 0
	for i, count := range counts {
		if count == n {
			return false
		}
		counts[i] = at
		at += count
	}
	return true
}

// scatter moves each key to the place that starts has for its digit from bit shift on.
func scatter[K uints](to, keys []K, low K, shift int, starts *[digits]int) {
	shift &= 63
	for _, k := range keys {
		d := uint64(k-low) >> shift % digits
		to[starts[d]] = k
		starts[d]++
	}
}

// A table is what rows are sorted by: the elements of each row, from the first on.
type table interface {
	// elements returns the number of elements of a row.
	elements() int
	// differ returns a number of elements, at least from, in which rows are equal.
	differ(rows []int64, from int) int
	// keys sets dst[i] to the key of the elements of rows[i] from number from up to but not
	// including number to. Equal elements have equal keys.
	keys(dst []uint64, rows []int64, from int) (to int)
}

// A run is a range of sorted rows, from position lo up to but not including hi, that are equal in
// so many elements of a table.
type run struct{ lo, hi, equal int }

// A rowSort sorts rows by one table after another. Rows that are equal keep their order.
type rowSort struct {
	rows       []int64 // in the order of the tables so far
	ties       []run   // of more than one row, equal in all tables so far, in ascending order
	untied     bool    // there is one table only: do without ties
	open       []run   // to be sorted, the next one last
	fresh      bool    // row i is at i
	keys, room []uint64
	counters   counters
}

// reset makes rows those of a new sort: 0, 1, 2, ...
func (s *rowSort) reset(rows []int64) {
	for i := range rows {
		rows[i] = int64(i)
	}
	s.rows, s.fresh, s.ties = rows, true, s.ties[:0]
	if len(rows) > 1 {
		s.ties = append(s.ties, run{hi: len(rows)})
	}
	if len(s.keys) < len(rows) {
		s.keys, s.room = blank[uint64](len(rows)), blank[uint64](len(rows))
	}
}

// by sorts the rows that are equal so far by a further table. A run is done with before the next,
// while its rows are in the cache.
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

// sortRun sorts a run by the next key of t, and opens the runs that are equal in it. A key and the
// position of its row share 64 bits, which makes keys distinct and the sort stable. Keys too wide
// for that are sorted by their upper bits, and runs that are equal in those are opened again.
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
	sorted, room := s.sortFrom(place, width-drop, keys, s.room[r.lo:r.hi])
	s.permute(rows, sorted, room, 1<<place-1)
	if drop > 0 {
		equal = r.equal
	}
	s.split(sorted, place, run{lo: r.lo, equal: equal}, t)
}

// sortFrom sorts keys by width bits from bit place on, below which they ascend. It returns keys and
// room, perhaps swapped.
func (s *rowSort) sortFrom(place, width int, keys, room []uint64) (sorted, other []uint64) {
	if len(keys) <= fewKeys {
		slices.Sort(keys)
		return keys, room
	}
	return radixSort(keys, room, 0, place, width, &s.counters)
}

// permute moves the row at position sorted[i]&mask to i.
func (s *rowSort) permute(rows []int64, sorted, room []uint64, mask uint64) {
	if s.fresh {
		for i, k := range sorted {
			rows[i] = int64(k & mask)
		}
		s.fresh = false
		return
	}
	for i, row := range rows {
		room[i] = uint64(row)
	}
	for i, k := range sorted {
		rows[i] = int64(room[k&mask])
	}
}

// split opens the runs of rows whose keys are equal but for so many lower bits. first tells where
// the row of the first key is, and in how many elements the rows of a run are equal.
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

// blank returns n numbers whose values are undefined.
func blank[K uints | int64](n int) []K {
	s, _ := cast.Slice[K](cast.Uninit(n * cast.Size[K]()))
	return s[:n:n]
}
