package naive

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// A Call is an operation with arguments that are valid for a shape, and its result for an array of
// that shape with elements numbered from 0; padding is [Gap].
type Call struct {
	Op    string
	N     []int // the numeric arguments, in order
	Sizes []int // sizes of windows
	Dims  []int // dims of windows
	Index Array // an index, or where windows start
	Want  Array
}

// Ops are the operations that [Random] knows.
var Ops = []string{
	"flip", "roll", "rot90", "movedim", "at least", "narrow", "unfold", "repeat", "tile",
	"repeat interleave", "repeat each", "gather", "take", "window", "pad",
}

// Copies are the operations of Ops whose result is always a copy, and that can fill a destination.
var Copies = []string{"flip", "roll", "rot90", "repeat", "tile", "repeat interleave", "repeat each", "gather", "take", "pad"}

// String returns the operation with its arguments.
func (c Call) String() string {
	return fmt.Sprint(c.Op, " ", c.N, c.Sizes, c.Dims, c.Index)
}

// Random returns a call of an operation with random arguments for a shape, or false if the shape
// allows none. Dims count from the front or from the back.
func Random(r *rand.Rand, verb string, shape []int) (Call, bool) {
	c, a := Call{Op: verb}, New(shape...)
	rank := len(shape)
	if rank == 0 && slices.Contains([]string{"roll", "movedim", "narrow", "unfold", "repeat interleave", "repeat each", "gather", "take", "window"}, verb) {
		return c, false
	}
	either := func(dim int) int { return dim - rank*r.IntN(2) }
	dim := r.IntN(max(1, rank))
	switch verb {
	case "flip":
		dims := r.Perm(rank)[:r.IntN(rank+1)]
		for _, d := range dims {
			c.N = append(c.N, either(d))
		}
		c.Want = a.Flip(dims...)
	case "roll":
		c.N = []int{r.IntN(19) - 9, either(dim)}
		c.Want = a.Roll(c.N[0], dim)
	case "rot90":
		if rank < 2 {
			return c, false
		}
		plane := r.Perm(rank)[:2]
		c.N = []int{r.IntN(13) - 6, either(plane[0]), either(plane[1])}
		c.Want = a.Rot90(c.N[0], plane[0], plane[1])
	case "movedim":
		to := r.IntN(rank)
		c.N, c.Want = []int{either(dim), either(to)}, a.Movedim(dim, to)
	case "at least":
		c.N = []int{r.IntN(6) - 1}
		c.Want = a.AtLeast(c.N[0])
	case "narrow":
		start := r.IntN(shape[dim] + 1)
		n := r.IntN(shape[dim] - start + 1)
		c.N = []int{either(dim), start, n}
		if shape[dim] > 0 && start < shape[dim] {
			c.N[1] -= shape[dim] * r.IntN(2)
		}
		c.Want = a.Cut(dim, start, n)[1]
	case "unfold":
		if shape[dim] == 0 {
			return c, false
		}
		size, step := 1+r.IntN(shape[dim]), 1+r.IntN(4)
		c.N, c.Want = []int{either(dim), size, step}, a.Unfold(dim, size, step)
	default:
		return c.more(r, a, dim, either)
	}
	return c, true
}

// more is Random for the operations that copy.
func (c Call) more(r *rand.Rand, a Array, dim int, either func(int) int) (Call, bool) {
	rank := len(a.Shape)
	switch c.Op {
	case "repeat":
		c.N = counts(r, rank)
		c.Want = a.Repeat(c.N...)
	case "tile":
		c.N = counts(r, r.IntN(rank+3))
		ones := slices.Repeat([]int{1}, max(0, rank-len(c.N)))
		c.Want = a.Repeat(slices.Concat(ones, c.N)...)
	case "repeat interleave":
		c.N = []int{r.IntN(4), either(dim)}
		c.Want = a.RepeatEach(slices.Repeat(c.N[:1], a.Shape[dim]), dim)
	case "repeat each":
		c.Index = Array{[]int{a.Shape[dim]}, counts(r, a.Shape[dim])}
		c.N, c.Want = []int{either(dim)}, a.RepeatEach(c.Index.At, dim)
	case "gather":
		shape := slices.Clone(a.Shape)
		for d := range shape {
			shape[d] = r.IntN(shape[d] + 1)
		}
		shape[dim] = r.IntN(4)
		if a.Shape[dim] == 0 {
			shape[dim] = 0
		}
		c.Index = Build(shape, func([]int) int { return r.IntN(2*a.Shape[dim]) - a.Shape[dim] })
		c.N, c.Want = []int{either(dim)}, a.Gather(dim, c.Index)
	case "take":
		shape := Shape(r, 2)
		if a.Shape[dim] == 0 {
			shape = []int{0}
		}
		c.Index = Build(shape, func([]int) int { return r.IntN(2*a.Shape[dim]) - a.Shape[dim] })
		c.N, c.Want = []int{either(dim)}, a.Take(dim, c.Index)
	case "pad":
		for _, size := range a.Shape[:r.IntN(rank+1)] {
			before := r.IntN(size+4) - size
			c.N = append(c.N, before, max(r.IntN(6)-3, -size-min(before, 0)))
		}
		c.Want = a.Pad(c.N...)
	case "window":
		return c.window(r, a, either)
	}
	return c, true
}

func (c Call) window(r *rand.Rand, a Array, either func(int) int) (Call, bool) {
	rank := len(a.Shape)
	if rank < 2 {
		return c, false
	}
	rows := 1 + r.IntN(rank-1)
	dims := []int{}
	for _, i := range r.Perm(rank - rows)[:1+r.IntN(rank-rows)] {
		dims = append(dims, rows+i)
		c.Sizes, c.Dims = append(c.Sizes, r.IntN(a.Shape[rows+i]+1)), append(c.Dims, either(rows+i))
	}
	shape := slices.Clone(a.Shape[:rows])
	if len(dims) > 1 {
		shape = append(shape, len(dims))
	}
	c.Index = Build(shape, func(pos []int) int {
		i := 0
		if len(dims) > 1 {
			i = pos[rows]
		}
		return r.IntN(a.Shape[dims[i]] - c.Sizes[i] + 1)
	})
	c.Want = a.Window(c.Index, dims, c.Sizes)
	return c, true
}

// counts returns random numbers from 0 to 3.
func counts(r *rand.Rand, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = []int{0, 1, 1, 2, 2, 3}[r.IntN(6)]
	}
	return out
}
