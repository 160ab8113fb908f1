package naive

import "slices"

// An Array is a shape and a number for each element, row-major.
type Array struct {
	Shape []int
	At    []int
}

// New returns the array of a shape with the elements 0, 1, 2, ...
func New(shape ...int) Array {
	return Build(shape, func(pos []int) int { return Flat(shape, pos) })
}

// Build returns the array of a shape whose elements are fn(pos).
func Build(shape []int, fn func(pos []int) int) Array {
	a := Array{append([]int{}, shape...), []int{}}
	Each(shape, func(pos []int) { a.At = append(a.At, fn(pos)) })
	return a
}

// Each calls fn with every position of a shape, row-major. fn must not keep pos.
func Each(shape []int, fn func(pos []int)) {
	if slices.Contains(shape, 0) {
		return
	}
	var walk func(pos []int)
	walk = func(pos []int) {
		if len(pos) == len(shape) {
			fn(pos)
			return
		}
		for i := range shape[len(pos)] {
			walk(append(pos, i))
		}
	}
	walk(make([]int, 0, len(shape)))
}

// Flat returns the row-major number of a position.
func Flat(shape, pos []int) int {
	n := 0
	for dim, size := range shape {
		n = n*size + pos[dim]
	}
	return n
}

// Size returns the number of elements of a shape.
func Size(shape []int) int {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return n
}

// Get returns the element at a position.
func (a Array) Get(pos []int) int { return a.At[Flat(a.Shape, pos)] }

// Plus returns a with n added to each element: the positions in memory that begins n elements
// later.
func (a Array) Plus(n int) Array {
	return Build(a.Shape, func(pos []int) int { return a.Get(pos) + n })
}

// Reshape returns the elements of a, in order, in another shape of the same size.
func (a Array) Reshape(shape ...int) Array {
	return Array{append([]int{}, shape...), slices.Clone(a.At)}
}

// Permute returns a with its dims in another order: dim i of the result is dim dims[i] of a.
func (a Array) Permute(dims ...int) Array {
	shape := make([]int, len(dims))
	for i, dim := range dims {
		shape[i] = a.Shape[dim]
	}
	return Build(shape, func(pos []int) int {
		from := make([]int, len(pos))
		for i, dim := range dims {
			from[dim] = pos[i]
		}
		return a.Get(from)
	})
}

// Expand returns a repeated to a shape, aligned at the last dim.
func (a Array) Expand(shape ...int) Array {
	return Build(shape, func(pos []int) int {
		from := slices.Clone(pos[len(pos)-len(a.Shape):])
		for i, size := range a.Shape {
			from[i] = min(from[i], size-1)
		}
		return a.Get(from)
	})
}

// Keep returns the listed positions of a dim, in the order of the list.
func (a Array) Keep(dim int, positions []int) Array {
	shape := slices.Clone(a.Shape)
	shape[dim] = len(positions)
	return Build(shape, func(pos []int) int {
		pos = slices.Clone(pos)
		pos[dim] = positions[pos[dim]]
		return a.Get(pos)
	})
}
