package vector

import "math"

// This file and plain_functions.go define every function. Where there is assembly, they compute the
// elements after the whole vectors.

// combined computes operations of two numbers.
func combined[T Float](o Op, dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	switch o {
	case Add:
		for i := range dst {
			dst[i] = a[i] + b[i]
		}
	case Sub:
		for i := range dst {
			dst[i] = a[i] - b[i]
		}
	case Mul:
		for i := range dst {
			dst[i] = a[i] * b[i]
		}
	case Div:
		for i := range dst {
			dst[i] = a[i] / b[i]
		}
	case Minimum:
		for i := range dst {
			dst[i] = min(a[i], b[i])
		}
	case Maximum:
		for i := range dst {
			dst[i] = max(a[i], b[i])
		}
	}
}

func combinedWith[T Float](o Op, dst, a []T, b T) {
	a = a[:len(dst)]
	switch o {
	case Add:
		for i, v := range a {
			dst[i] = v + b
		}
	case Sub:
		for i, v := range a {
			dst[i] = v - b
		}
	case Mul:
		for i, v := range a {
			dst[i] = v * b
		}
	case Div:
		for i, v := range a {
			dst[i] = v / b
		}
	case Minimum:
		for i, v := range a {
			dst[i] = min(v, b)
		}
	case Maximum:
		for i, v := range a {
			dst[i] = max(v, b)
		}
	}
}

func clamp[T Float](dst, a []T, low, high T) {
	a = a[:len(dst)]
	for i, v := range a {
		dst[i] = min(max(v, low), high)
	}
}

// changed computes operations of one number.
func changed[T Float](o Op, dst, a []T) {
	a = a[:len(dst)]
	switch o {
	case Neg:
		for i, v := range a {
			dst[i] = -v
		}
	case Abs:
		for i, v := range a {
			dst[i] = T(math.Abs(float64(v)))
		}
	case Relu:
		for i, v := range a {
			dst[i] = max(v, 0)
		}
	case Sqrt:
		for i, v := range a {
			dst[i] = T(math.Sqrt(float64(v)))
		}
	case Floor:
		for i, v := range a {
			dst[i] = T(math.Floor(float64(v)))
		}
	case Ceil:
		for i, v := range a {
			dst[i] = T(math.Ceil(float64(v)))
		}
	case Round:
		for i, v := range a {
			dst[i] = T(math.RoundToEven(float64(v)))
		}
	case Trunc:
		for i, v := range a {
			dst[i] = T(math.Trunc(float64(v)))
		}
	}
}

// compared compares two numbers.
func compared[T Float](o Op, dst []uint8, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	switch o {
	case Equal:
		for i := range dst {
			dst[i] = bit(a[i] == b[i])
		}
	case NotEqual:
		for i := range dst {
			dst[i] = bit(a[i] != b[i])
		}
	case Less:
		for i := range dst {
			dst[i] = bit(a[i] < b[i])
		}
	case LessEqual:
		for i := range dst {
			dst[i] = bit(a[i] <= b[i])
		}
	}
}

func comparedWith[T Float](o Op, dst []uint8, a []T, b T) {
	a = a[:len(dst)]
	switch o {
	case Equal:
		for i, v := range a {
			dst[i] = bit(v == b)
		}
	case NotEqual:
		for i, v := range a {
			dst[i] = bit(v != b)
		}
	case Less:
		for i, v := range a {
			dst[i] = bit(v < b)
		}
	case LessEqual:
		for i, v := range a {
			dst[i] = bit(v <= b)
		}
	case Greater:
		for i, v := range a {
			dst[i] = bit(v > b)
		}
	case GreaterEqual:
		for i, v := range a {
			dst[i] = bit(v >= b)
		}
	}
}

// classified computes comparisons of one number.
func classified[T Float](o Op, dst []uint8, a []T) {
	a = a[:len(dst)]
	for i, v := range a {
		if dst[i] = bit(v != v); o == IsFinite {
			dst[i] = bit(v-v == 0) // v-v is NaN if v is infinite
		}
	}
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// least returns the least of m and x.
func least[T Real](m T, x []T) T {
	a, b, c, d := m, m, m, m
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = min(a, x[0]), min(b, x[1]), min(c, x[2]), min(d, x[3])
	}
	for _, v := range x {
		a = min(a, v)
	}
	return min(a, b, c, d)
}

func greatest[T Real](m T, x []T) T {
	a, b, c, d := m, m, m, m
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = max(a, x[0]), max(b, x[1]), max(c, x[2]), max(d, x[3])
	}
	for _, v := range x {
		a = max(a, v)
	}
	return max(a, b, c, d)
}

// sums adds the elements of each line from 0 on, four lines at a time.
func sums[T Float](dst, x []T, step, n int) {
	for ; len(dst) >= 4; dst = dst[4:] {
		p, q, r, s := x[:n], x[step:][:n], x[2*step:][:n], x[3*step:][:n]
		var a, b, c, d T
		for i := range p {
			a += p[i]
			b += q[i]
			c += r[i]
			d += s[i]
		}
		dst[0], dst[1], dst[2], dst[3] = a, b, c, d
		x = x[min(len(x), 4*step):]
	}
	for i := range dst {
		var sum T
		for _, v := range x[i*step:][:n] {
			sum += v
		}
		dst[i] = sum
	}
}

// addRows adds three rows at a time, so that dst is written less often.
func addRows[T Float](dst, x []T, at []int) {
	n, x := len(dst), x[:len(x):len(x)]
	for ; len(at) >= 3; at = at[3:] {
		a, b, c := x[at[0]:][:n], x[at[1]:][:n], x[at[2]:][:n]
		for i := range dst {
			dst[i] = dst[i] + a[i] + b[i] + c[i]
		}
	}
	if len(at) == 2 {
		a, b := x[at[0]:][:n], x[at[1]:][:n]
		for i := range dst {
			dst[i] = dst[i] + a[i] + b[i]
		}
		return
	}
	for _, o := range at {
		for i, v := range x[o:][:n] {
			dst[i] = dst[i] + v
		}
	}
}

// minimumRows folds three rows at a time, so that dst is written less often.
func minimumRows[T Real](dst, x []T, at []int) {
	n, x := len(dst), x[:len(x):len(x)]
	for ; len(at) >= 3; at = at[3:] {
		a, b, c := x[at[0]:][:n], x[at[1]:][:n], x[at[2]:][:n]
		for i := range dst {
			dst[i] = min(min(dst[i], a[i]), min(b[i], c[i]))
		}
	}
	if len(at) == 2 {
		a, b := x[at[0]:][:n], x[at[1]:][:n]
		for i := range dst {
			dst[i] = min(dst[i], min(a[i], b[i]))
		}
		return
	}
	for _, o := range at {
		for i, v := range x[o:][:n] {
			dst[i] = min(dst[i], v)
		}
	}
}

// maximumRows folds three rows at a time, so that dst is written less often.
func maximumRows[T Real](dst, x []T, at []int) {
	n, x := len(dst), x[:len(x):len(x)]
	for ; len(at) >= 3; at = at[3:] {
		a, b, c := x[at[0]:][:n], x[at[1]:][:n], x[at[2]:][:n]
		for i := range dst {
			dst[i] = max(max(dst[i], a[i]), max(b[i], c[i]))
		}
	}
	if len(at) == 2 {
		a, b := x[at[0]:][:n], x[at[1]:][:n]
		for i := range dst {
			dst[i] = max(dst[i], max(a[i], b[i]))
		}
		return
	}
	for _, o := range at {
		for i, v := range x[o:][:n] {
			dst[i] = max(dst[i], v)
		}
	}
}

func ofBytes(dst []float32, src []uint8) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = float32(v)
	}
}

// toBytes truncates towards zero and saturates; NaN becomes 0.
func toBytes(dst []uint8, src []float32) {
	src = src[:len(dst)]
	for i, v := range src {
		switch {
		case v >= 0 && v < 256:
			dst[i] = uint8(v)
		case v >= 256:
			dst[i] = 255
		default:
			dst[i] = 0
		}
	}
}

// scaleNumbers rounds products before it adds shift.
func scaleNumbers[S uint8 | float32](dst []float32, src []S, scale, shift float32) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = float32(float32(v)*scale) + shift
	}
}

// keys maps 0 and -0 to the same key, and all NaNs to the largest.
func keys(dst []int32, src []float32, opposite bool) {
	src = src[:len(dst)]
	for i, v := range src {
		if opposite {
			v = -v
		}
		bits := int32(math.Float32bits(v + 0)) // -0 + 0 is 0
		dst[i] = bits ^ int32(uint32(bits>>31)>>1)
		if v != v {
			dst[i] = math.MaxInt32
		}
	}
}
