package tdict

import "math"

// ByteSize returns how many bytes the elements of all tensors and ragged tensors take, as their
// ByteSize says, or math.MaxInt if that is more than an int holds. A value under several keys
// counts for each. Offsets, unbatched tensors and data do not count. (Python: bytes.)
func (td *TensorDict) ByteSize() int {
	return td.sum(map[*TensorDict]int{}, func(leaf Value) int {
		if e := opsOf(leaf).elementwise(leaf); e != nil {
			return e.ByteSize()
		}
		return 0
	})
}

func (td *TensorDict) countLeaves() int {
	return td.sum(map[*TensorDict]int{}, func(Value) int { return 1 })
}

// sum returns the sum of what size returns for each leaf, or math.MaxInt; known holds the sums of
// dictionaries seen before.
func (td *TensorDict) sum(known map[*TensorDict]int, size func(leaf Value) int) int {
	total, ok := known[td]
	if ok {
		return total
	}
	for _, v := range td.entries.all() {
		n := 0
		if d, ok := asDict(v); ok {
			n = d.sum(known, size)
		} else {
			n = size(v)
		}
		total += min(n, math.MaxInt-total)
	}
	known[td] = total
	return total
}
