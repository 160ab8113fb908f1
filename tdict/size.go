package tdict

import "math"

// ByteSize returns the number of bytes of the elements of all tensors and ragged tensors, as their
// ByteSize methods count them, or math.MaxInt if that overflows. A value under several keys counts
// for each. Offsets, unbatched tensors and data do not count. (Python: bytes.)
func (td *TensorDict) ByteSize() int {
	return td.sum(map[*TensorDict]int{}, func(leaf Value) int {
		if e := elements(leaf); e != nil {
			return e.ByteSize()
		}
		return 0
	})
}

func (td *TensorDict) countLeaves() int {
	return td.sum(map[*TensorDict]int{}, func(Value) int { return 1 })
}

// sum returns the sum of size(leaf) over all leaves, or math.MaxInt if that overflows. known has
// the sums of dictionaries that were seen before.
func (td *TensorDict) sum(known map[*TensorDict]int, size func(leaf Value) int) int {
	total, ok := known[td]
	if ok {
		return total
	}
	for _, v := range td.entries.all() {
		n := 0
		if d, ok := v.(*TensorDict); ok {
			n = d.sum(known, size)
		} else {
			n = size(v)
		}
		total += min(n, math.MaxInt-total)
	}
	known[td] = total
	return total
}
