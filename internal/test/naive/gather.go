package naive

import "slices"

// Gap is the element that stands for padding.
const Gap = -1

// Gather returns, at each position of index, the element of a at index[pos] along a dim.
func (a Array) Gather(dim int, index Array) Array {
	return Build(index.Shape, func(pos []int) int {
		from := slices.Clone(pos)
		from[dim] = resolve(index.Get(pos), a.Shape[dim])
		return a.Get(from)
	})
}

// Take returns the positions of a dim that index lists, in the shape of index.
func (a Array) Take(dim int, index Array) Array {
	shape := slices.Concat(a.Shape[:dim], index.Shape, a.Shape[dim+1:])
	end := dim + len(index.Shape)
	return Build(shape, func(pos []int) int {
		at := resolve(index.Get(pos[dim:end]), a.Shape[dim])
		return a.Get(slices.Concat(pos[:dim], []int{at}, pos[end:]))
	})
}

// Window returns a window of each row of a. The first dims of starts are the rows. If dims has more
// than one dim, starts has one more dim, with a start for each of dims.
func (a Array) Window(starts Array, dims, sizes []int) Array {
	shape, rank := slices.Clone(a.Shape), len(starts.Shape)
	if len(dims) > 1 {
		rank--
	}
	for i, dim := range dims {
		shape[dim] = sizes[i]
	}
	return Build(shape, func(pos []int) int {
		from := slices.Clone(pos)
		for i, dim := range dims {
			from[dim] += starts.Get(append(slices.Clone(pos[:rank]), i)[:len(starts.Shape)])
		}
		return a.Get(from)
	})
}

// Pad returns a with positions added before and after each dim, or removed if a size is negative.
func (a Array) Pad(sizes ...int) Array {
	shape, before := slices.Clone(a.Shape), make([]int, len(a.Shape))
	for i, size := range sizes {
		shape[i/2] += size
		if i%2 == 0 {
			before[i/2] = size
		}
	}
	return Build(shape, func(pos []int) int {
		from := slices.Clone(pos)
		for dim := range from {
			from[dim] -= before[dim]
			if from[dim] < 0 || from[dim] >= a.Shape[dim] {
				return Gap
			}
		}
		return a.Get(from)
	})
}

// PadSequence returns the stacked arrays, each padded along a dim to length, or to the longest if
// length is 0.
func PadSequence(xs []Array, dim, length int, left bool) Array {
	for _, x := range xs {
		length = max(length, x.Shape[dim])
	}
	padded := make([]Array, len(xs))
	for i, x := range xs {
		sizes := make([]int, 2*dim+2)
		sizes[2*dim+1] = length - x.Shape[dim]
		if left {
			sizes[2*dim], sizes[2*dim+1] = sizes[2*dim+1], 0
		}
		padded[i] = x.Pad(sizes...)
	}
	return Stack(padded, 0)
}

// Origin returns, for each dim of an array of a's elements, the dim of a along which its numbers
// move: -1 if they do not move, -2 if they move along several.
func (a Array) Origin(of Array) []int {
	out := slices.Repeat([]int{-1}, len(of.Shape))
	Each(of.Shape, func(pos []int) {
		for dim := range pos {
			if pos[dim] == 0 {
				continue
			}
			prev := slices.Clone(pos)
			prev[dim]--
			for moved := range a.differ(of.Get(pos), of.Get(prev)) {
				if out[dim] != -1 && out[dim] != moved {
					out[dim] = -2
				} else {
					out[dim] = moved
				}
			}
		}
	})
	return out
}

// differ yields the dims along which two elements of a differ. A gap differs in no dim.
func (a Array) differ(x, y int) func(yield func(dim int) bool) {
	return func(yield func(dim int) bool) {
		if x == Gap || y == Gap {
			return
		}
		p, q := unflat(a.Shape, x), unflat(a.Shape, y)
		for dim := range p {
			if p[dim] != q[dim] && !yield(dim) {
				return
			}
		}
	}
}

// unflat returns the position with row-major number n.
func unflat(shape []int, n int) []int {
	pos := make([]int, len(shape))
	for dim, size := range slices.Backward(shape) {
		pos[dim] = n % size
		n /= size
	}
	return pos
}
