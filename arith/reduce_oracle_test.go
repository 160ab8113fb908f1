package arith_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/tensor"
)

// positionsOf calls fn with each position of a shape, in row-major order.
func positionsOf(shape []int, fn func(at []int)) {
	at := make([]int, len(shape))
	for range naive.Size(shape) {
		fn(at)
		for dim := len(shape) - 1; dim >= 0; dim-- {
			if at[dim]++; at[dim] < shape[dim] {
				break
			}
			at[dim] = 0
		}
	}
}

// A bucket is the elements that one result is made of, and at which positions of its line they are.
type bucket struct {
	values []any
	at     []int64
	size   int64 // of elements that do not count too
}

// bucketsOf puts elements, row-major, into the bucket of each result, row-major.
func bucketsOf(shape []int, reduced []bool, splits []int64, values []any, counts []bool) []bucket {
	kept := []int{}
	for dim, n := range shape {
		switch {
		case !reduced[dim]:
			kept = append(kept, n)
		case splits != nil:
			kept = append(kept, len(splits)-1)
		}
	}
	out, i := make([]bucket, naive.Size(kept)), 0
	positionsOf(shape, func(at []int) {
		to := 0
		for dim, n := range shape {
			switch {
			case !reduced[dim]:
				to = to*n + at[dim]
			case splits != nil:
				g := 0
				for splits[g+1] <= int64(at[0]) {
					g++
				}
				to = to*(len(splits)-1) + g
			}
		}
		b := &out[to]
		if counts[i] {
			b.values, b.at = append(b.values, values[i]), append(b.at, b.size)
		}
		b.size++
		i++
	})
	return out
}

// inOrder adds the numbers s of a bucket in the order that Sum states, with 0 in the places of
// those that do not count.
func inOrder[T float32 | float64 | complex64 | complex128](b bucket, counting []T) T {
	s := make([]T, b.size)
	for i, v := range counting {
		s[b.at[i]] = v
	}
	type node struct {
		sum    T
		blocks int
	}
	var tree []node
	for len(s) > 0 {
		n := node{0, 1}
		block := s[:min(64, len(s))]
		for _, v := range block {
			n.sum += v
		}
		s = s[len(block):]
		for len(tree) > 0 && tree[len(tree)-1].blocks == n.blocks {
			n = node{tree[len(tree)-1].sum + n.sum, 2 * n.blocks}
			tree = tree[:len(tree)-1]
		}
		tree = append(tree, n)
	}
	if len(tree) == 0 {
		return 0
	}
	sum := tree[len(tree)-1].sum
	for i := len(tree) - 2; i >= 0; i-- {
		sum = tree[i].sum + sum
	}
	return sum
}

// as returns the values of a bucket as T.
func as[T any](b bucket) []T {
	out := make([]T, len(b.values))
	for i, v := range b.values {
		out[i] = v.(T)
	}
	return out
}

// float64sOf returns the values of a bucket as float64.
func float64sOf(b bucket) []float64 {
	out := make([]float64, len(b.values))
	for i, v := range b.values {
		out[i] = toFloat(v)
	}
	return out
}

func toFloat(v any) float64 {
	switch v := v.(type) {
	case bool:
		if v {
			return 1
		}
		return 0
	case tensor.F16:
		return v.Float64()
	case tensor.BF16:
		return v.Float64()
	case float32:
		return float64(v)
	case float64:
		return v
	}
	return float64(toInt(v))
}

func toInt(v any) int64 {
	switch v := v.(type) {
	case bool:
		return int64(toFloat(v))
	case uint8:
		return int64(v)
	case uint16:
		return int64(v)
	case uint32:
		return int64(v)
	case uint64:
		return int64(v)
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	}
	return v.(int64)
}

// anysOf returns the elements of x, row-major.
func anysOf(t testing.TB, x *tensor.Tensor) []any {
	t.Helper()
	switch x.DType() {
	case tensor.Bool:
		return anysAs[bool](t, x)
	case tensor.Uint8:
		return anysAs[uint8](t, x)
	case tensor.Uint16:
		return anysAs[uint16](t, x)
	case tensor.Uint32:
		return anysAs[uint32](t, x)
	case tensor.Uint64:
		return anysAs[uint64](t, x)
	case tensor.Int8:
		return anysAs[int8](t, x)
	case tensor.Int16:
		return anysAs[int16](t, x)
	case tensor.Int32:
		return anysAs[int32](t, x)
	case tensor.Int64:
		return anysAs[int64](t, x)
	case tensor.Float16:
		return anysAs[tensor.F16](t, x)
	case tensor.BFloat16:
		return anysAs[tensor.BF16](t, x)
	case tensor.Float32:
		return anysAs[float32](t, x)
	case tensor.Float64:
		return anysAs[float64](t, x)
	case tensor.Complex64:
		return anysAs[complex64](t, x)
	}
	return anysAs[complex128](t, x)
}

func anysAs[T tensor.Elem](t testing.TB, x *tensor.Tensor) []any {
	t.Helper()
	all, err := tensor.Elements[T](x)
	require.NoError(t, err)
	out := []any{}
	for v := range all {
		out = append(out, v)
	}
	return out
}

// rounded returns a float64 as an element of a dtype.
func rounded(t testing.TB, d tensor.DType, v float64) any {
	t.Helper()
	return anysOf(t, tensor.Must(tensor.Scalar(v).Cast(d)))[0]
}

// bitsOf returns what tells values apart as their bits do, but for those of NaN.
func bitsOf(v any) any {
	switch v := v.(type) {
	case float32:
		if v != v {
			return "nan"
		}
		return math.Float32bits(v)
	case float64:
		if v != v {
			return "nan"
		}
		return math.Float64bits(v)
	case tensor.F16:
		return bitsOf(v.Float64())
	case tensor.BF16:
		return bitsOf(v.Float64())
	case complex64:
		return [2]any{bitsOf(real(v)), bitsOf(imag(v))}
	case complex128:
		return [2]any{bitsOf(real(v)), bitsOf(imag(v))}
	}
	return v
}

// sumBy is the oracle of Sum: of elements of a dtype.
func sumBy(t testing.TB, d tensor.DType, b bucket) any {
	switch d {
	case tensor.Float16, tensor.BFloat16:
		return rounded(t, d, float64(inOrder(b, widened(b))))
	case tensor.Float32:
		return inOrder(b, as[float32](b))
	case tensor.Float64:
		return inOrder(b, as[float64](b))
	case tensor.Complex64:
		return inOrder(b, as[complex64](b))
	case tensor.Complex128:
		return inOrder(b, as[complex128](b))
	}
	sum := int64(0)
	for _, v := range b.values {
		sum += toInt(v)
	}
	if d == tensor.Uint64 {
		return uint64(sum)
	}
	return sum
}

// widened returns numbers of 16 bits as float32.
func widened(b bucket) []float32 {
	out := make([]float32, len(b.values))
	for i, v := range float64sOf(b) {
		out[i] = float32(v)
	}
	return out
}

func prodBy(t testing.TB, d tensor.DType, b bucket) any {
	switch d {
	case tensor.Float16, tensor.BFloat16:
		return rounded(t, d, float64(multiplied(widened(b))))
	case tensor.Float32:
		return multiplied(as[float32](b))
	case tensor.Float64:
		return multiplied(as[float64](b))
	case tensor.Complex64:
		return multiplied(as[complex64](b))
	case tensor.Complex128:
		return multiplied(as[complex128](b))
	}
	all := big.NewInt(1)
	for _, v := range b.values {
		all.Mul(all, big.NewInt(toInt(v)))
	}
	switch {
	case d == tensor.Uint64 && all.IsUint64():
		return all.Uint64()
	case d != tensor.Uint64 && all.IsInt64():
		return all.Int64()
	}
	return tooMuch
}

func multiplied[T float32 | float64 | complex64 | complex128](s []T) T {
	all := T(1)
	for _, v := range s {
		all *= v
	}
	return all
}

func meanBy(t testing.TB, d tensor.DType, b bucket) any {
	n := float64(len(b.values))
	switch d {
	case tensor.Float16, tensor.BFloat16:
		return rounded(t, d, float64(orEqual(widened(b), inOrder(b, widened(b))/float32(n))))
	case tensor.Float32:
		return orEqual(as[float32](b), inOrder(b, as[float32](b))/float32(n))
	case tensor.Complex64:
		sum := inOrder(b, as[complex64](b))
		if all := as[complex64](b); equalNumbers(all) {
			return all[0] + 0
		}
		return complex(real(sum)/float32(n), imag(sum)/float32(n))
	case tensor.Complex128:
		sum := inOrder(b, as[complex128](b))
		if all := as[complex128](b); equalNumbers(all) {
			return all[0] + 0
		}
		return complex(real(sum)/n, imag(sum)/n)
	}
	return orEqual(float64sOf(b), inOrder(b, float64sOf(b))/n)
}

// orEqual returns the number that all of s are, or else the mean.
func orEqual[T float32 | float64](s []T, mean T) T {
	if equalNumbers(s) {
		return s[0] + 0
	}
	return mean
}

// equalNumbers reports whether there are numbers, and all are equal.
func equalNumbers[T comparable](s []T) bool {
	for _, v := range s {
		if v != s[0] {
			return false
		}
	}
	return len(s) > 0
}

// fractionOf returns the dtype of what is made as float64 of elements of a dtype.
func fractionOf(d tensor.DType) tensor.DType {
	if d.IsFloat() {
		return d
	}
	return tensor.Float64
}

func varBy(t testing.TB, d tensor.DType, b bucket, correction int, root bool) any {
	s := float64sOf(b)
	mean := orEqual(s, inOrder(b, s)/float64(len(s)))
	for i, v := range s {
		s[i] = (v - mean) * (v - mean)
	}
	v := inOrder(b, s) / float64(len(s)-correction)
	if len(s) <= correction {
		v = math.NaN()
	}
	if root {
		v = math.Sqrt(v)
	}
	return rounded(t, fractionOf(d), v)
}

func normBy(t testing.TB, d tensor.DType, b bucket) any {
	s := float64sOf(b)
	for i, v := range s {
		s[i] = v * v
	}
	return rounded(t, fractionOf(d), math.Sqrt(inOrder(b, s)))
}

func quantileBy(t testing.TB, d tensor.DType, b bucket, q float64) any {
	s := float64sOf(b)
	slices.Sort(s) // NaN first
	if len(s) == 0 || s[0] != s[0] {
		return rounded(t, fractionOf(d), math.NaN())
	}
	at := q * float64(len(s)-1)
	lo, part := int(at), at-math.Floor(at)
	v := s[lo]
	switch {
	case part == 0 || s[lo] == s[lo+1]:
	case math.IsInf(s[lo+1]-s[lo], 0): // one is infinite, or they are too far apart
		v = s[lo]*(1-part) + s[lo+1]*part
	case part < 0.5:
		v += (s[lo+1] - s[lo]) * part
	default:
		v = s[lo+1] - (s[lo+1]-s[lo])*(1-part)
	}
	return rounded(t, fractionOf(d), v)
}

// extremeBy returns the position in b of its least or greatest element, or first NaN, or -1.
func extremeBy(b bucket, d tensor.DType, max bool) int {
	best := -1
	for i, v := range b.values {
		switch {
		case best < 0:
			best = i
		case d.IsInteger() && d != tensor.Uint64:
			if v, w := toInt(v), toInt(b.values[best]); max && v > w || !max && v < w {
				best = i
			}
		case d == tensor.Uint64:
			if v, w := v.(uint64), b.values[best].(uint64); max && v > w || !max && v < w {
				best = i
			}
		default:
			v, w := toFloat(v), toFloat(b.values[best])
			if max && v > w || !max && v < w || v != v && w == w {
				best = i
			}
		}
	}
	return best
}
