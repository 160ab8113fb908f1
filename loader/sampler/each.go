package sampler

import (
	"fmt"
	"iter"
)

// eachChunk is how many units of an order are asked for at a time.
const eachChunk = 1024

// each returns an iterator over the positions of an order that ends, and the units there.
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

// taken returns dst with what is at the positions of an order from start on, before stop. An order
// that breaks its word, which those of this package do not, is a panic, as a slice's would be.
func taken(o Order, dst []int, start, stop int) []int {
	n := len(dst)
	dst = o.AppendTo(dst, start, stop)
	if got := len(dst) - n; got != stop-start {
		panic(fmt.Sprintf("sampler: AppendTo of %d positions appended %d", stop-start, got))
	}
	return dst
}
