package naive

import "slices"

// Cat returns arrays joined along a dim, in which alone their sizes may differ.
func Cat(xs []Array, dim int) Array {
	shape := slices.Clone(xs[0].Shape)
	shape[dim] = 0
	for _, x := range xs {
		shape[dim] += x.Shape[dim]
	}
	return Build(shape, func(pos []int) int {
		pos = slices.Clone(pos)
		i := 0
		for pos[dim] >= xs[i].Shape[dim] {
			pos[dim] -= xs[i].Shape[dim]
			i++
		}
		return xs[i].Get(pos)
	})
}

// Stack returns arrays of one shape joined along a new dim dim.
func Stack(xs []Array, dim int) Array {
	shape := slices.Insert(slices.Clone(xs[0].Shape), dim, len(xs))
	return Build(shape, func(pos []int) int {
		return xs[pos[dim]].Get(slices.Delete(slices.Clone(pos), dim, dim+1))
	})
}

// Number returns arrays of the given shapes. Their elements are numbered, and the numbers continue
// from one array to the next.
func Number(shapes ...[]int) []Array {
	out, n := []Array{}, 0
	for _, shape := range shapes {
		out = append(out, New(shape...).Plus(n))
		n += Size(shape)
	}
	return out
}

// Cut returns pieces with the given sizes along a dim, in order.
func (a Array) Cut(dim int, sizes ...int) []Array {
	out, start := []Array{}, 0
	for _, size := range sizes {
		positions := make([]int, size)
		for i := range positions {
			positions[i] = start + i
		}
		out, start = append(out, a.Keep(dim, positions)), start+size
	}
	return out
}

// A Run is consecutive rows of one array that are copied to another.
type Run struct{ To, From, Len int }

// Rows returns a with runs of rows of src (positions of dim 0) copied to it, in order.
func (a Array) Rows(src Array, runs ...Run) Array {
	out := Array{a.Shape, slices.Clone(a.At)}
	width := Size(a.Shape[1:])
	for _, run := range runs {
		for i := range run.Len * width {
			out.At[run.To*width+i] = src.At[run.From*width+i]
		}
	}
	return out
}
