package pickstack

import (
	"math"

	"github.com/go-tensordict/tensordict/internal/vector"
)

// key is the set of integer types that numbers are compared as. The machine chooses the greater of
// two integers without a branch, which is several times faster for random numbers.
type key interface{ int32 | int64 }

// An order maps numbers to keys. 0 and -0 have the same key; all NaNs have the largest key, in
// either order.
type order[T number, K key] struct {
	keys       func(dst []K, src []T)
	below, nan K // below is less than all keys; nan is the largest
}

// orderOf returns the order of numbers, or the opposite order.
func orderOf[T number, K key](opposite bool) order[T, K] {
	var o any
	if _, small := any(T(0)).(float32); small {
		keys := func(dst []int32, src []float32) { vector.Keys(dst[:len(src)], src, opposite) }
		o = order[float32, int32]{keys, math.MinInt32, math.MaxInt32}
	} else {
		o = order[float64, int64]{keys64(opposite), math.MinInt64, math.MaxInt64}
	}
	return o.(order[T, K])
}

// key returns the key of one number.
func (o *order[T, K]) key(v T) K {
	var k [1]K
	o.keys(k[:], []T{v})
	return k[0]
}

func keys64(opposite bool) func(dst []int64, src []float64) {
	return func(dst []int64, src []float64) {
		dst = dst[:len(src)]
		for i, v := range src {
			if opposite {
				v = -v
			}
			bits := int64(math.Float64bits(v + 0))
			dst[i] = bits ^ int64(uint64(bits>>63)>>1)
			if v != v {
				dst[i] = math.MaxInt64
			}
		}
	}
}
