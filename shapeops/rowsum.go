package shapeops

import "math"

// Sum returns the sum of size(row) over the rows at all positions, or math.MaxInt if that is more
// than an int holds. size must not return a negative number. Sum calls it once for a row that an
// expansion repeats, and lists nothing.
func (r *Rows) Sum(size func(row int) int) int {
	once, times := View{Offset: r.view.Offset}, 1
	for dim, stride := range r.view.Strides {
		if stride == 0 {
			times *= r.view.Shape[dim]
			continue
		}
		once.Shape = append(once.Shape, r.view.Shape[dim])
		once.Strides = append(once.Strides, stride)
	}
	sum := 0
	for at := range once.Offsets() {
		n := size(r.at(at))
		sum += min(n, math.MaxInt-sum)
	}
	if times > 0 && sum > math.MaxInt/times {
		return math.MaxInt
	}
	return sum * times
}
