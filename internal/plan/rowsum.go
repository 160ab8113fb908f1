package plan

import (
	"github.com/go-tensordict/tensordict/shape"
	"iter"
	"math"
)

// Distinct returns an iterator over the numbers of the rows, in row-major order, where a row that
// an expansion repeats comes once. A row that is listed twice comes twice.
func (r *Rows) Distinct() iter.Seq[int] {
	once := shape.View{Offset: r.view.Offset}
	for dim, size := range r.view.Shape {
		if stride := r.view.Strides[dim]; stride != 0 || size == 0 {
			once.Shape = append(once.Shape, size)
			once.Strides = append(once.Strides, stride)
		}
	}
	return (&Rows{view: once, list: r.list}).All()
}

// Sum returns the sum of size(row) over the rows at all positions, or math.MaxInt if that is more
// than an int holds. size must not return a negative number. Sum calls it for the rows of
// [Rows.Distinct] only, and lists nothing.
func (r *Rows) Sum(size func(row int) int) int {
	sum, rows := 0, 0
	for row := range r.Distinct() {
		sum += min(size(row), math.MaxInt-sum)
		rows++
	}
	if rows == 0 {
		return 0
	}
	times := r.view.Shape.Size() / rows
	if sum > math.MaxInt/times {
		return math.MaxInt
	}
	return sum * times
}
