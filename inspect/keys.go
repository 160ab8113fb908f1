package inspect

import "math"

// keyOf returns the key of a number that is not NaN. Keys have the order of the numbers; the key of
// -0 is less than the key of 0.
func keyOf(v float64) int64 {
	bits := int64(math.Float64bits(v))
	return bits ^ int64(uint64(bits>>63)>>1)
}

// ofKey returns the number that has a key.
func ofKey(key int64) float64 {
	return math.Float64frombits(uint64(key ^ int64(uint64(key>>63)>>1)))
}

// sortKeys sorts keys. free has the same length and is overwritten. It merges ascending runs, so
// that it is fast for keys that were sorted in part, and merges without branches that depend on
// keys: for random ones it takes half the time of slices.Sort.
func sortKeys(keys, free []int64) {
	for i := 0; i+4 <= len(keys); i += 4 {
		sortFour((*[4]int64)(keys[i:]))
	}
	from, to := keys, free
	for ascending(from, 0) < len(from) {
		for at := 0; at < len(from); {
			mid := ascending(from, at)
			end := ascending(from, mid)
			merge(to[at:end], from[at:mid], from[mid:end])
			at = end
		}
		from, to = to, from
	}
	if len(keys) > 0 && &from[0] != &keys[0] {
		copy(keys, from)
	}
}

// ascending returns the end of the run of ascending keys that begins at at.
func ascending(x []int64, at int) int {
	for at++; at < len(x) && x[at-1] <= x[at]; at++ {
	}
	return min(at, len(x))
}

func sortFour(x *[4]int64) {
	a, b, c, d := min(x[0], x[1]), max(x[0], x[1]), min(x[2], x[3]), max(x[2], x[3])
	low, high := max(a, c), min(b, d)
	*x = [4]int64{min(a, c), min(low, high), max(low, high), max(b, d)}
}

// merge merges sorted keys a and b.
func merge(to, a, b []int64) {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		first := 0
		if x <= y {
			first = 1
		}
		to[i+j] = min(x, y)
		i, j = i+first, j+1-first
	}
	copy(to[i+j:], a[i:])
	copy(to[i+j:], b[j:])
}
