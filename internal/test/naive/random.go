package naive

import (
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// Shape returns a random shape with at most dims dims, each of size 0 to 4.
func Shape(r *rand.Rand, dims int) []int {
	shape := make([]int, r.IntN(dims+1))
	for i := range shape {
		shape[i] = []int{0, 1, 1, 2, 2, 3, 3, 4}[r.IntN(8)]
	}
	return shape
}

// Factors returns a random shape of n elements.
func Factors(r *rand.Rand, n int) []int {
	if n == 0 {
		return append([]int{0}, Shape(r, 2)...)
	}
	shape := []int{}
	for f := 2; n > 1; f++ {
		for n%f == 0 && r.IntN(4) > 0 {
			shape, n = append(shape, f), n/f
		}
		if f > n {
			f = 1
		}
	}
	return shape
}

// Expr returns a random index expression for a shape. Most are valid.
func Expr(r *rand.Rand, shape []int) []ix.Index {
	var expr []ix.Index
	rest := r.IntN(3) == 0
	for dim := 0; dim < len(shape); {
		if r.IntN(8) == 0 {
			expr = append(expr, ix.New)
		}
		if r.IntN(12) == 0 {
			expr = append(expr, ix.Bool(r.IntN(4) > 0))
		}
		if rest && r.IntN(3) == 0 {
			expr, rest = append(expr, ix.Rest), false
			dim += r.IntN(len(shape) - dim + 1)
			continue
		}
		x, dims := part(r, shape[dim:])
		expr, dim = append(expr, x), dim+dims
	}
	if rest {
		expr = append(expr, ix.Rest)
	}
	return expr[:len(expr)-r.IntN(len(expr)/2+1)]
}

// part returns a random part for the first dim of shape or the first two, and the number of dims.
func part(r *rand.Rand, shape []int) (x ix.Index, dims int) {
	n := shape[0]
	switch r.IntN(8) {
	case 0, 1:
		return ix.At(position(r, n)), 1
	case 2:
		return ix.Range(r.IntN(2*n+4)-n-2, r.IntN(2*n+4)-n-2), 1
	case 3:
		return ix.Range(r.IntN(2*n+1)-n, ix.End).Step(1 + r.IntN(3)), 1
	case 4, 5:
		return take(r, n), 1
	case 6:
		dims := 1 + r.IntN(min(2, len(shape)))
		return mask(r, shape[:dims]), dims
	}
	return ix.All, 1
}

// position returns a valid position of n, or sometimes an invalid one.
func position(r *rand.Rand, n int) int {
	if n == 0 || r.IntN(60) == 0 {
		return n
	}
	return r.IntN(2*n) - n
}

func take(r *rand.Rand, n int) ix.Index {
	shapes := [][]int{{2}, {2}, {1}, {3}, {0}, {2, 2}, {2, 1}, {1, 2}, {1, 1, 2}}
	shape := shapes[r.IntN(len(shapes))]
	list := make([]int, Size(shape))
	for i := range list {
		list[i] = position(r, n)
	}
	return ix.TakeND(list, shape...)
}

func mask(r *rand.Rand, shape []int) ix.Index {
	bits := make([]bool, Size(shape))
	for i := range bits {
		bits[i] = r.IntN(2) == 0
	}
	return ix.Mask(bits, shape...)
}
