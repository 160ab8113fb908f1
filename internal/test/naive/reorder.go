package naive

import "slices"

// Flip returns a with the order of positions reversed along dims, or along all if none is given.
func (a Array) Flip(dims ...int) Array {
	return Build(a.Shape, func(pos []int) int {
		from := slices.Clone(pos)
		for dim, size := range a.Shape {
			if len(dims) == 0 || slices.Contains(dims, dim) {
				from[dim] = size - 1 - pos[dim]
			}
		}
		return a.Get(from)
	})
}

// Roll returns a with each position of a dim moved by shift, one place at a time.
func (a Array) Roll(shift, dim int) Array {
	n := max(a.Shape[dim], 1)
	for range (shift%n + n) % n {
		last := a
		a = Build(a.Shape, func(pos []int) int {
			from := slices.Clone(pos)
			from[dim] = (pos[dim] + n - 1) % n
			return last.Get(from)
		})
	}
	return a
}

// Rot90 returns a with the plane of two dims rotated by quarters quarter turns, one at a time.
func (a Array) Rot90(quarters, first, second int) Array {
	for range (quarters%4 + 4) % 4 {
		last := a
		shape := slices.Clone(a.Shape)
		shape[first], shape[second] = shape[second], shape[first]
		a = Build(shape, func(pos []int) int {
			from := slices.Clone(pos)
			from[first], from[second] = pos[second], last.Shape[second]-1-pos[first]
			return last.Get(from)
		})
	}
	return a
}

// Movedim returns a with dim from moved to position to.
func (a Array) Movedim(from, to int) Array {
	order := []int{}
	for dim := range a.Shape {
		if dim != from {
			order = append(order, dim)
		}
	}
	return a.Permute(slices.Insert(order, to, from)...)
}

// Unfold returns all windows of a dim. Each begins step positions after the one before.
func (a Array) Unfold(dim, size, step int) Array {
	starts := []int{}
	for at := 0; at+size <= a.Shape[dim]; at += step {
		starts = append(starts, at)
	}
	shape := slices.Insert(slices.Clone(a.Shape), dim+1, size)
	shape[dim] = len(starts)
	return Build(shape, func(pos []int) int {
		from := slices.Delete(slices.Clone(pos), dim+1, dim+2)
		from[dim] = starts[pos[dim]] + pos[dim+1]
		return a.Get(from)
	})
}

// Repeat returns a repeated counts[i] times along each dim. If there are more counts than dims, the
// first counts are for new dims, which come first.
func (a Array) Repeat(counts ...int) Array {
	a = a.AtLeast(len(counts))
	shape := slices.Clone(a.Shape)
	for dim, count := range counts {
		shape[dim] *= count
	}
	return Build(shape, func(pos []int) int {
		from := slices.Clone(pos)
		for dim, size := range a.Shape {
			from[dim] %= size
		}
		return a.Get(from)
	})
}

// RepeatEach returns a with position i of a dim repeated counts[i] times.
func (a Array) RepeatEach(counts []int, dim int) Array {
	positions := []int{}
	for i, count := range counts {
		for range count {
			positions = append(positions, i)
		}
	}
	return a.Keep(dim, positions)
}

// AtLeast returns a with dims of size 1 added at the front until it has n dims.
func (a Array) AtLeast(n int) Array {
	shape := a.Shape
	for len(shape) < n {
		shape = append([]int{1}, shape...)
	}
	return a.Reshape(shape...)
}
