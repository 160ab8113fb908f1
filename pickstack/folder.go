package pickstack

import "math"

// A folder folds rows of x, which begin at the given elements and are as long as d, into d, one
// after another.
type folder[T number] func(d, x []T, at []int)

// folderOf returns the folder of a reduction, and the number that d begins with: folding into that
// changes nothing. For LogSumExp it is that of the greatest exponent.
func folderOf[T number](r Reduction) (f folder[T], begin T) {
	switch r {
	case Max, LogSumExp:
		f, begin = foldMax[T], T(math.Inf(-1))
	case Min:
		f, begin = foldMin[T], T(math.Inf(1))
	default:
		f, begin = foldSum[T], T(math.Copysign(0, -1)) // -0 + -0 is -0
	}
	if fast := fastFolder[T](r); fast != nil {
		f = fast
	}
	return f, begin
}

// foldMax takes three rows at a time, so that d is written less often.
func foldMax[T number](d, x []T, at []int) {
	n := len(d)
	for ; len(at) >= 3; at = at[3:] {
		a, b, c := x[at[0]:][:n], x[at[1]:][:n], x[at[2]:][:n]
		for i := range d {
			d[i] = max(max(d[i], a[i]), max(b[i], c[i]))
		}
	}
	if len(at) == 2 {
		a, b := x[at[0]:][:n], x[at[1]:][:n]
		for i := range d {
			d[i] = max(d[i], max(a[i], b[i]))
		}
		return
	}
	for _, o := range at {
		for i, v := range x[o:][:n] {
			d[i] = max(d[i], v)
		}
	}
}

func foldMin[T number](d, x []T, at []int) {
	n := len(d)
	for ; len(at) >= 3; at = at[3:] {
		a, b, c := x[at[0]:][:n], x[at[1]:][:n], x[at[2]:][:n]
		for i := range d {
			d[i] = min(min(d[i], a[i]), min(b[i], c[i]))
		}
	}
	if len(at) == 2 {
		a, b := x[at[0]:][:n], x[at[1]:][:n]
		for i := range d {
			d[i] = min(d[i], min(a[i], b[i]))
		}
		return
	}
	for _, o := range at {
		for i, v := range x[o:][:n] {
			d[i] = min(d[i], v)
		}
	}
}

// foldSum adds rows in their order.
func foldSum[T number](d, x []T, at []int) {
	n := len(d)
	for ; len(at) >= 3; at = at[3:] {
		a, b, c := x[at[0]:][:n], x[at[1]:][:n], x[at[2]:][:n]
		for i := range d {
			d[i] = d[i] + a[i] + b[i] + c[i]
		}
	}
	if len(at) == 2 {
		a, b := x[at[0]:][:n], x[at[1]:][:n]
		for i := range d {
			d[i] = d[i] + a[i] + b[i]
		}
		return
	}
	for _, o := range at {
		for i, v := range x[o:][:n] {
			d[i] += v
		}
	}
}
