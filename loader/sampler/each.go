package sampler

import (
	"fmt"
	"iter"
)

// eachChunk is the number of units that each reads from an order at a time.
const eachChunk = 1024

// each returns an iterator over the positions of an order that has an end, and the units at them.
func each(o Order) iter.Seq2[int, int] {
	return func(yield func(position, unit int) bool) {
		chunk := make([]int, 0, min(eachChunk, o.Len()))
		for start := 0; start < o.Len(); start += eachChunk {
			chunk = taken(o, chunk[:0], start, min(start+eachChunk, o.Len()))
			for i, unit := range chunk {
				if !yield(start+i, unit) {
					return
				}
			}
		}
	}
}

// taken appends the units at positions start up to, not including, stop to dst. It panics, as a
// slice would, if an order breaks its contract; the orders of this package do not.
func taken(o Order, dst []int, start, stop int) []int {
	n := len(dst)
	dst = o.AppendTo(dst, start, stop)
	if got := len(dst) - n; got != stop-start {
		panic(fmt.Sprintf("sampler: AppendTo of %d positions appended %d", stop-start, got))
	}
	return dst
}
