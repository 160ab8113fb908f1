package tensor

import "slices"

// meet reports whether a row of a is one of b, counted from row by.
func meet(a, b []stretch, by int, steps *int) bool {
	*steps -= (len(a) + len(b)) / rowsAStep
	for len(a) > 0 && len(b) > 0 {
		lo, hi := b[0].lo+by, b[0].hi+by
		switch {
		case a[0].hi <= lo:
			a = a[1:]
		case hi <= a[0].lo:
			b = b[1:]
		default:
			return true
		}
	}
	return false
}

// A verdict is what is known of two footprints.
type verdict int

const (
	apart verdict = iota
	overlap
	unknown // it would take too long to find out
)

const (
	// mostSteps is how many steps two footprints are compared for before their verdict is unknown.
	// A step takes some ten nanoseconds.
	mostSteps = 1 << 16
	// rowsAStep is how many listed rows are compared in a step.
	rowsAStep = 256
)

// compare reports whether two footprints share a byte, in at most so many steps.
func compare(a, b footprint, steps *int) verdict {
	if *steps--; *steps < 0 {
		return unknown
	}
	aLow, aHigh := a.bounds()
	bLow, bHigh := b.bounds()
	switch {
	case aHigh <= bLow || bHigh <= aLow:
		return apart
	case len(a.dims) == 0 && len(b.dims) == 0:
		return overlap
	case len(a.dims) == 0 || len(b.dims) > 0 && b.dims[0].stride > a.dims[0].stride:
		a, b = b, a
	}
	if len(b.dims) > 0 {
		if v, known := compareSpaced(a, b, steps); known {
			return v
		}
	}
	return compareRows(a, b, steps)
}

// compareSpaced compares footprints by where they lie between multiples of a stride: its own, if
// both have the same, or one that both strides are multiples of, which may leave the verdict open.
func compareSpaced(a, b footprint, steps *int) (verdict, bool) {
	s := gcd(a.dims[0].stride, b.dims[0].stride)
	aIn, bIn := a.inner(), b.inner()
	aLow, aHigh := aIn.bounds()
	bLow, bHigh := bIn.bounds()
	if aHigh-aLow > s || bHigh-bLow > s {
		return 0, false // rows reach into one another
	}
	by := floorDiv(bLow-aLow, s) // whole strides from a to b
	rest := bLow - aLow - by*s
	same, next := rest < aHigh-aLow, rest+bHigh-bLow > s // may b's row meet a's row by, and the next?
	if !same && !next {
		return apart, true
	}
	if a.dims[0].stride != b.dims[0].stride {
		return 0, false
	}
	found := apart
	for k, may := range []bool{same, next} {
		if may && meet(a.dims[0].rows(), b.dims[0].rows(), by+k, steps) {
			found = max(found, compare(aIn, bIn.moved(-(by+k)*s), steps))
			if found == overlap {
				return overlap, true
			}
		}
	}
	return found, true
}

// compareRows compares each row of a's first dim that b may reach with all of b.
func compareRows(a, b footprint, steps *int) verdict {
	in, stride := a.inner(), a.dims[0].stride
	low, high := in.bounds()
	bLow, bHigh := b.bounds()
	first := floorDiv(bLow-high, stride) + 1 // the first row that ends after bLow
	last := floorDiv(bHigh-1-low, stride)    // the last that begins before bHigh
	list := a.dims[0].rows()
	i, _ := slices.BinarySearchFunc(list, first, func(s stretch, row int) int {
		if s.hi <= row {
			return -1
		}
		return 1
	})
	for _, rows := range list[i:] {
		for row := max(rows.lo, first); row < rows.hi && row <= last; row++ {
			if v := compare(in.moved(row*stride), b, steps); v != apart {
				return v
			}
		}
		if rows.hi > last {
			break
		}
	}
	return apart
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
