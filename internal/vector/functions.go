package vector

import "github.com/go-tensordict/tensordict/internal/cast"

// Exp sets dst to e to the power of a.
func Exp(dst, a []float32) {
	n := on(kernels.exp, dst, a, nil, 0, 0)
	exp(dst[n:], a[n:])
}

// Log sets dst to the natural logarithm of a.
func Log(dst, a []float32) {
	n := on(kernels.log, dst, a, nil, 0, 0)
	log(dst[n:], a[n:])
}

// Tanh sets dst to the hyperbolic tangent of a.
func Tanh(dst, a []float32) {
	n := on(kernels.tanh, dst, a, nil, 0, 0)
	tanh(dst[n:], a[n:])
}

// Sigmoid sets dst to 1 / (1 + e^-a).
func Sigmoid(dst, a []float32) {
	n := on(kernels.sigmoid, dst, a, nil, 0, 0)
	sigmoid(dst[n:], a[n:])
}

// WeightRows sets row i of dst to e to the power of x[at[i]:] - b. Rows are as long as b, and no
// element of x is greater than the element of b. Where the two are equal, even if infinite, the
// weight is 1. Weights below e^-708 become e^-708, or 0 below e^-745.13.
func WeightRows(dst []float64, x []float32, at []int, b []float32) {
	dst = upTo(dst, len(at)*len(b))
	if !weigh(kernels.weightRows, dst, x, at, b, len(b)) {
		weightRows(dst, x, at, b)
	}
}

// AddWeightRows adds to dst, which is as long as b, the rows that [WeightRows] sets, in order.
func AddWeightRows(dst []float64, x []float32, at []int, b []float32) {
	dst = upTo(dst, len(b))
	if !weigh(kernels.addWeightRows, dst, x, at, b, 0) {
		addWeightRows(dst, x, at, b)
	}
}

// weigh runs a kernel, if there is one, on rows: on several short ones at a time, or on a part of a
// long one. The results of row i begin at dst[i*step]. It reports whether there is a kernel.
func weigh(k func(dst, x []byte, at []int, b []byte), dst []float64, x []float32, at []int, b []float32, step int) bool {
	if k == nil {
		return false
	}
	n := len(b)
	for _, o := range at {
		_ = upTo(x[o:], n)
	}
	for n > 0 && len(at) > 0 {
		rows := min(len(at), max(1, short/n))
		for from := 0; from < n; from += short {
			part := b[from:min(n, from+short)]
			k(cast.Bytes(dst[from:]), cast.Bytes(x[from:]), at[:rows], cast.Bytes(part))
		}
		dst, at = dst[rows*step:], at[rows:]
	}
	return true
}
