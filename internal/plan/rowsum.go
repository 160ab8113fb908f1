package plan

import (
	"iter"
	"math"

	"github.com/go-tensordict/tensordict/shape"
)

// Distinct returns an iterator over the row numbers, in row-major order. A row that an expansion
// repeats occurs once. A row that is listed twice occurs twice.
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

// Sum returns the sum of size(row) over the rows at all positions, or math.MaxInt if an int does
// not hold it. size must not return a negative number. Sum calls size only for the rows of
// [Rows.Distinct].
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
