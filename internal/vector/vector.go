package vector

import (
	"math"

	"github.com/go-tensordict/tensordict/internal/cast"
)

// Float is the set of floating-point types that Go computes with.
type Float interface{ float32 | float64 }

// A kernel is the assembly of a function. It takes slices as bytes, and numbers x and y as their
// bits. It sets the leading elements of dst from a and b, and returns the number of remaining
// elements. If past is true, dst is aligned, and the kernel may write past the cache.
type kernel func(dst, a, b []byte, x, y uint64, past bool) (rest int)

// A rowKernel folds the rows of x that begin at elements at into dst.
type rowKernel func(dst, x []byte, at []int)

// A transposer transposes n blocks of 8 rows of x, of 32 bytes each, side by side into dst. to and
// from are the distances between rows of dst and of x in bytes.
type transposer func(dst, x []byte, to, from, n int)

// A pair holds the kernels for float32 and float64, or nil where there is none.
type pair[K kernel | rowKernel] struct{ f32, f64 K }

// of returns the kernel for a type, or nil for integers.
func of[T Real, K kernel | rowKernel](p pair[K]) (k K) {
	switch any(T(0)).(type) {
	case float32:
		k = p.f32
	case float64:
		k = p.f64
	}
	return k
}

// kernels are the kernels that the machine runs. Without assembly all are nil.
var kernels table

// A table has a kernel for each function.
type table struct {
	slices [numOps]pair[kernel] // of an operation of slices, or of one
	number [numOps]pair[kernel] // of a slice and a number
	clamp  pair[kernel]

	least, greatest, blend pair[kernel]
	sums                   func(dst, x []byte, step, n int)

	addRows, minimumRows, maximumRows pair[rowKernel]

	widenF16, widenBF16, narrowF16, narrowBF16, ofBytes, toBytes, scale, scaleBytes, keys kernel

	exp, log, tanh, sigmoid   kernel
	weightRows, addWeightRows func(dst, x []byte, at []int, b []byte)
	transpose                 [5]transposer // by the width of an item in bytes
}

// runBytes is the largest run that a kernel gets at once, because the scheduler cannot preempt
// assembly.
const runBytes = 64 << 10

// short is the number of elements up to which a slice goes to a kernel without further checks. It
// takes less than runBytes, and the checks would take as long as the kernel.
const short = 1 << 10

// vectorBytes is the size of a vector. Writes past the cache are aligned to it.
const vectorBytes = 32

// leastStep is the least number of elements that a kernel for float32 sets.
const leastStep = 4

// everyStep is a number of elements that every kernel sets completely. The first aligned vector
// begins within them.
const everyStep = 32

// on runs a kernel on the whole vectors of dst, and returns the number of elements set. b is nil,
// or as long as dst. x and y are the bits of numbers.
func on[D, A cast.Fixed](k kernel, dst []D, a, b []A, x, y uint64) (done int) {
	a = upTo(a, len(dst))
	if k == nil || len(dst) < leastStep {
		return 0
	}
	if len(dst) <= short {
		return len(dst) - k(cast.Bytes(dst), cast.Bytes(a), cast.Bytes(b), x, y, false)
	}
	past := large(dst) && apart(dst, a) && apart(dst, b)
	if past { // up to the first aligned vector; some elements after it are set twice
		k(cast.Bytes(dst[:everyStep]), cast.Bytes(a), cast.Bytes(b), x, y, false)
		done = aligned(dst)
	}
	return runs(k, dst, a, b, x, y, done, past)
}

// upTo returns the first n elements of a slice. It panics if the slice is shorter, even if its
// capacity is not.
func upTo[T any](s []T, n int) []T { return s[:len(s):len(s)][:n] }

// runs has a kernel set dst from element done on, at most runBytes at a time.
func runs[D, A cast.Fixed](k kernel, dst []D, a, b []A, x, y uint64, done int, past bool) int {
	step := runBytes / max(cast.Size[D](), cast.Size[A]())
	for done < len(dst) {
		n := min(step, len(dst)-done)
		rest := k(cast.Bytes(dst[done:done+n]), cast.Bytes(a[done:]), cast.Bytes(b[min(done, len(b)):]), x, y, past)
		if done += n - rest; rest > 0 {
			break
		}
	}
	return done
}

// bits returns the bits of a number.
func bits[T Float](v T) uint64 {
	if cast.Size[T]() == 4 {
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(float64(v))
}

// large reports whether a slice is larger than half of the last-level cache.
func large[T cast.Fixed](s []T) bool { return len(s)*cast.Size[T]() > largeBytes }

// apart reports whether slices share no memory.
func apart[D, A cast.Fixed](dst []D, a []A) bool {
	_, shared := cast.Shift(cast.Bytes(dst), cast.Bytes(a))
	return !shared
}

// aligned returns the index of the first element that is aligned to a vector.
func aligned[T cast.Fixed](s []T) int {
	over := int(cast.Address(cast.Bytes(s)) % vectorBytes)
	return (vectorBytes - over) % vectorBytes / cast.Size[T]()
}

// largeBytes is half of the size of the last-level cache.
var largeBytes = 16 << 20
