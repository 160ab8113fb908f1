package sampler

import "iter"

// eachChunk is how many units of an order are asked for at a time.
const eachChunk = 1024

// each returns an iterator over the positions of an order that ends, and the units there.
func each(o Order) iter.Seq2[int, int] {
	return func(yield func(position, unit int) bool) {
		chunk := make([]int, 0, min(eachChunk, o.Len()))
		for start := 0; start < o.Len(); start += eachChunk {
			chunk = o.AppendTo(chunk[:0], start, min(start+eachChunk, o.Len()))
			for i, unit := range chunk {
				if !yield(start+i, unit) {
					return
				}
			}
		}
	}
}
