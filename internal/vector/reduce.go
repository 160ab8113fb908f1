package vector

import (
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
)

// Real is the set of number types that have an order. There is no assembly for integers.
type Real interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | Float
}

// Least returns the least of m and x, or NaN if any is NaN. -0 is less than 0.
func Least[T Real](m T, x []T) T {
	for k := of[T](kernels.least); k != nil && len(x) >= wholeExtreme[T](); {
		best, n := extreme(k, x)
		m, x = min(m, best), x[n:]
	}
	return least(m, x)
}

// Greatest returns the greatest of m and x, or NaN if any is NaN. 0 is greater than -0.
func Greatest[T Real](m T, x []T) T {
	for k := of[T](kernels.greatest); k != nil && len(x) >= wholeExtreme[T](); {
		best, n := extreme(k, x)
		m, x = max(m, best), x[n:]
	}
	return greatest(m, x)
}

// wholeExtreme returns the step of the kernels least and greatest: they take a multiple of it.
func wholeExtreme[T Real]() int { return 4 * vectorBytes / cast.Size[T]() }

// extreme runs a kernel on the first n elements of x, where n is as many as it takes at once.
func extreme[T Real](k kernel, x []T) (best T, n int) {
	n = min(len(x), runBytes/cast.Size[T]()) &^ (wholeExtreme[T]() - 1)
	return number[T](k(nil, cast.Bytes(x[:n]), nil, 0, 0, false)), n
}

// number returns the number with these bits, in the lower half if it is a float32.
func number[T Real](bits int) T {
	if cast.Size[T]() == 4 {
		return T(math.Float32frombits(uint32(bits)))
	}
	return T(math.Float64frombits(uint64(bits)))
}

// Blend sets dst to the numbers of x whose mark is 1, and to neutral where the mark is 0.
func Blend[T Float](dst, x []T, marks []uint8, neutral T) {
	x, marks = upTo(x, len(dst)), upTo(marks, len(dst))
	done, k := 0, of[T](kernels.blend)
	for rest := 0; k != nil && done < len(dst) && rest == 0; {
		n := min(runBytes/cast.Size[T](), len(dst)-done)
		rest = k(cast.Bytes(dst[done:done+n]), cast.Bytes(x[done:]), marks[done:], bits(neutral), 0, false)
		done += n - rest
	}
	for i, mark := range marks[done:] {
		v := x[done+i]
		if mark == 0 {
			v = neutral
		}
		dst[done+i] = v
	}
}

// Sums sets dst[i] to the sum of x[i*step:][:n], added one after the other from 0 on.
func Sums[T Float](dst, x []T, step, n int) {
	if len(dst) > 1 {
		_ = upTo(x, step)
	}
	if len(dst) > 0 {
		_ = upTo(x[(len(dst)-1)*step:], n)
	}
	if d, ok := any(dst).([]float32); ok && kernels.sums != nil && 8 <= n && n <= runBytes/32 {
		whole := len(d) &^ 7
		sumLines(d[:whole], any(x).([]float32), step, n)
		dst, x = dst[whole:], x[min(len(x), whole*step):]
	}
	sums(dst, x, step, n)
}

// sumLines is Sums for a multiple of eight lines. It gives the kernel at most runBytes at a time.
func sumLines(dst, x []float32, step, n int) {
	lines, whole := runBytes/(4*n)&^7, n&^7
	for len(dst) > 0 {
		k := min(len(dst), lines)
		_ = x[(k-1)*step+n-1] // assembly checks no bounds, and the product in Sums may wrap
		kernels.sums(cast.Bytes(dst[:k]), cast.Bytes(x), step, whole)
		for i := range dst[:k] {
			for _, v := range x[i*step+whole : i*step+n] {
				dst[i] += v
			}
		}
		dst, x = dst[k:], x[min(len(x), k*step):]
	}
}

// AddRows adds to dst the row x[o:][:len(dst)] for each o in at, one after the other.
func AddRows[T Float](dst, x []T, at []int) {
	if !foldRows(kernels.addRows, dst, x, at) {
		addRows(dst, x, at)
	}
}

// MinimumRows sets dst to the Minimum of dst and the rows of x that [AddRows] adds.
func MinimumRows[T Real](dst, x []T, at []int) {
	if !foldRows(kernels.minimumRows, dst, x, at) {
		minimumRows(dst, x, at)
	}
}

// MaximumRows sets dst to the Maximum of dst and the rows of x that [AddRows] adds.
func MaximumRows[T Real](dst, x []T, at []int) {
	if !foldRows(kernels.maximumRows, dst, x, at) {
		maximumRows(dst, x, at)
	}
}

// nearBytes is the number of bytes that stay in the first-level cache: of one row, or of several
// narrow ones. It is a quarter of runBytes.
const nearBytes = 16 << 10

// foldRows runs a kernel on rows, and reports whether it did. It does not if there is no kernel,
// and for rows narrower than half a vector, which plain Go folds faster.
func foldRows[T Real](k pair[rowKernel], dst, x []T, at []int) bool {
	fold, width := of[T](k), len(dst)
	if fold == nil || width < vectorBytes/2/cast.Size[T]() {
		return false
	}
	for _, o := range at {
		_ = upTo(x[o:], width)
	}
	if near := nearBytes / cast.Size[T](); width <= near && width*len(at) <= near {
		fold(cast.Bytes(dst), cast.Bytes(x), at)
	} else {
		foldStrips(fold, dst, x, at)
	}
	return true
}

// foldStrips folds rows strip by strip. It gives the kernel as many rows as fit in the first-level
// cache, but at least four, as many as the machine reads ahead.
func foldStrips[T Real](fold rowKernel, dst, x []T, at []int) {
	near := nearBytes / cast.Size[T]()
	for len(dst) > 0 {
		width := min(len(dst), near)
		for some := range slices.Chunk(at, max(4, near/width)) {
			fold(cast.Bytes(dst[:width]), cast.Bytes(x), some)
		}
		dst, x = dst[width:], x[min(len(x), width):]
	}
}
