package pickstack

// A folder sets d to what a reduction makes of rows of x, which begin at the given elements and are
// as long as d. If d is begun, it is the first of them; otherwise there is at least one.
type folder[T number] func(d, x []T, at []int, begun bool)

// folderOf returns the folder of a reduction: of LogSumExp that of its first pass.
func folderOf[T number](r Reduction) folder[T] {
	if f := fastFolder[T](r); f != nil {
		return f
	}
	switch r {
	case Max, LogSumExp:
		return foldRows(maxRows[T]())
	case Min:
		return foldRows(minRows[T]())
	}
	return foldRows(sumRows[T]())
}

// A rowOps is an operation on two, three and four rows, from the left. d may be a.
type rowOps[T number] struct {
	two   func(d, a, b []T)
	three func(d, a, b, c []T)
	four  func(d, a, b, c, e []T)
}

// foldRows takes several rows at a time, so that d is written less often.
func foldRows[T number](op rowOps[T]) folder[T] {
	return func(d, x []T, at []int, begun bool) {
		n := len(d)
		row := func(i int) []T { return x[at[i]:][:n] }
		if !begun {
			switch len(at) {
			case 1:
				copy(d, row(0))
				return
			case 2:
				op.two(d, row(0), row(1))
				return
			case 3:
				op.three(d, row(0), row(1), row(2))
				return
			}
			op.four(d, row(0), row(1), row(2), row(3))
			at = at[4:]
		}
		for ; len(at) >= 3; at = at[3:] {
			op.four(d, d, row(0), row(1), row(2))
		}
		switch len(at) {
		case 1:
			op.two(d, d, row(0))
		case 2:
			op.three(d, d, row(0), row(1))
		}
	}
}

func maxRows[T number]() rowOps[T] {
	return rowOps[T]{
		func(d, a, b []T) {
			a, b = a[:len(d)], b[:len(d)]
			for i := range d {
				d[i] = max(a[i], b[i])
			}
		},
		func(d, a, b, c []T) {
			a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
			for i := range d {
				d[i] = max(a[i], b[i], c[i])
			}
		},
		func(d, a, b, c, e []T) {
			a, b, c, e = a[:len(d)], b[:len(d)], c[:len(d)], e[:len(d)]
			for i := range d {
				d[i] = max(a[i], b[i], c[i], e[i])
			}
		},
	}
}

func minRows[T number]() rowOps[T] {
	return rowOps[T]{
		func(d, a, b []T) {
			a, b = a[:len(d)], b[:len(d)]
			for i := range d {
				d[i] = min(a[i], b[i])
			}
		},
		func(d, a, b, c []T) {
			a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
			for i := range d {
				d[i] = min(a[i], b[i], c[i])
			}
		},
		func(d, a, b, c, e []T) {
			a, b, c, e = a[:len(d)], b[:len(d)], c[:len(d)], e[:len(d)]
			for i := range d {
				d[i] = min(a[i], b[i], c[i], e[i])
			}
		},
	}
}

func sumRows[T number]() rowOps[T] {
	return rowOps[T]{
		func(d, a, b []T) {
			a, b = a[:len(d)], b[:len(d)]
			for i := range d {
				d[i] = a[i] + b[i]
			}
		},
		func(d, a, b, c []T) {
			a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
			for i := range d {
				d[i] = a[i] + b[i] + c[i]
			}
		},
		func(d, a, b, c, e []T) {
			a, b, c, e = a[:len(d)], b[:len(d)], c[:len(d)], e[:len(d)]
			for i := range d {
				d[i] = a[i] + b[i] + c[i] + e[i]
			}
		},
	}
}

// fastFolder returns a folder that the machine has instructions for, or nil.
func fastFolder[T number](Reduction) folder[T] { return nil }
