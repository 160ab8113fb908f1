package vector

import "github.com/go-tensordict/tensordict/internal/cast"

// Exp sets dst to e to the power of a: computed in float64, and rounded once.
func Exp(dst, a []float32) {
	n := on(kernels.exp, dst, a, nil, 0, 0)
	exp(dst[n:], a[n:])
}

// Log sets dst to the natural logarithm of a: computed in float64, and rounded once.
func Log(dst, a []float32) {
	n := on(kernels.log, dst, a, nil, 0, 0)
	log(dst[n:], a[n:])
}

// Tanh sets dst to the hyperbolic tangent of a: computed in float64, and rounded once.
func Tanh(dst, a []float32) {
	n := on(kernels.tanh, dst, a, nil, 0, 0)
	tanh(dst[n:], a[n:])
}

// Sigmoid sets dst to 1 / (1 + e^-a): computed in float64, and rounded once.
func Sigmoid(dst, a []float32) {
	n := on(kernels.sigmoid, dst, a, nil, 0, 0)
	sigmoid(dst[n:], a[n:])
}

// WeightRows sets rows of dst, each as long as b, to e to the power of x - b, of rows of x that begin
// at the given elements: x is not greater than b there. Where they are equal the weight is 1, also
// if they are infinite; weights below 3.4e-308 are 0.
func WeightRows(dst []float64, x []float32, at []int, b []float32) {
	dst = upTo(dst, len(at)*len(b))
	if !weigh(kernels.weightRows, dst, x, at, b, len(b)) {
		weightRows(dst, x, at, b)
	}
}

// AddWeightRows adds to dst, which is as long as b, each of the rows that [WeightRows] makes.
func AddWeightRows(dst []float64, x []float32, at []int, b []float32) {
	dst = upTo(dst, len(b))
	if !weigh(kernels.addWeightRows, dst, x, at, b, 0) {
		addWeightRows(dst, x, at, b)
	}
}

// weigh has a kernel, if there is one, find the weights of rows: short ones together, and long ones
// in parts. Each belongs step elements of dst after the one before.
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
