package chart

import (
	"math"
	"strconv"
)

// A Histogram has a count for each bar, and a tail on each side: the count of the values beyond the
// bars.
type Histogram struct {
	Counts       []int
	Below, Above int

	// Each says that a bar stands for a value, with a label below it. Otherwise bar i stands for
	// the values from Edges[i] to Edges[i+1].
	Each bool

	// Edges are the borders of the bars, ascending, one more than there are bars. They place ticks
	// and quantiles; without them there are no ticks. Not used if Each is set.
	Edges []float64

	// LabelChars is the length of the longest label, in characters, if Each is set: labels that
	// would touch are left out. 0 means 3.
	LabelChars int
}

// most returns the count of the highest bar or tail, at least 0.
func (h Histogram) most() int {
	most := max(0, h.Below, h.Above)
	for _, n := range h.Counts {
		most = max(most, n)
	}
	return most
}

// slots says where bars and tails stand: bar i has the space from left + i*width.
type slots struct {
	left, width float64 // of the bars
	tail        float64 // width of a tail
}

// tailGap is the space before a tail, in widths of bars.
const tailGap = 1.2

// slotsOf divides a width among bars and tails. A tail is as wide as a bar, and at least 5 units.
func slotsOf(h Histogram, w float64) slots {
	n, tails := float64(max(1, len(h.Counts))), 0.0
	for _, count := range []int{h.Below, h.Above} {
		if count > 0 {
			tails++
		}
	}
	width := w / (n + tails*(tailGap+1))
	s := slots{0, width, width}
	if tail := min(5, w/4); width < tail {
		s = slots{0, (w - tails*tail) / (n + tails*tailGap), tail}
	}
	if h.Below > 0 {
		s.left = s.tail + tailGap*s.width
	}
	return s
}

// height returns the height of a bar below a highest bar of h units, at least least if the count is
// not 0.
func height(count, most int, h, least float64) float64 {
	if count <= 0 {
		return 0
	}
	return min(h, max(least, float64(count)/float64(most)*h))
}

// Small returns the path data of a small histogram of w x h units: its bars, and its tails as solid
// rectangles at least 5 units wide and 3 high. Both are empty if there is nothing to draw.
//
// Heights are whole units, so that tops are sharp. Bars have gaps of 1 unit, or of three tenths of
// a bar if in.Each is set; bars narrower than 3 units have no gaps. The baseline is at h, from 0 to
// w.
func Small(in Histogram, w, h float64) (bars, tails string) {
	s, most := slotsOf(in, w), in.most()
	gap := 0.0
	if in.Each && s.width >= 3 {
		gap = 0.3 * s.width
	} else if s.width >= 3 {
		gap = 1
	}
	p := stairs{base: h}
	for i, n := range in.Counts {
		p.bar(s.left+float64(i)*s.width+gap/2, s.width-gap, height(n, most, h, 1))
	}
	q := stairs{base: h}
	q.bar(0, s.tail, height(in.Below, most, h, 3))
	q.bar(w-s.tail, s.tail, height(in.Above, most, h, 3))
	return string(p.d), string(q.d)
}

// stairs writes bars as one polygon, which follows the baseline between them: this takes fewer
// bytes than a polygon for each. Horizontal positions are tenths of a unit.
type stairs struct {
	d    []byte
	pen  float64 // in tenths
	base float64
}

// bar adds a bar, unless its height, in whole units, is 0.
func (p *stairs) bar(x, w, h float64) {
	h = min(math.Round(h), p.base)
	if h <= 0 {
		return
	}
	if p.d == nil {
		p.d = number(append(p.d, "M0 "...), p.base)
	}
	p.to(x)
	p.d = number(append(p.d, 'V'), p.base-h)
	p.to(x + w)
	p.d = number(append(p.d, 'V'), p.base)
}

// to moves the pen to x.
func (p *stairs) to(x float64) {
	x = math.Floor(x * 10) // rounded down, so that it stays inside
	if x != p.pen {
		p.d = number(append(p.d, 'h'), (x-p.pen)/10)
		p.pen = x
	}
}

// number appends v with at most two decimals, and without the zero of 0.5.
func number(d []byte, v float64) []byte {
	v = round(v)
	if v == 0 {
		return append(d, '0')
	}
	n := len(d)
	d = strconv.AppendFloat(d, v, 'f', -1, 64)
	if v > 0 && v < 1 {
		d = append(d[:n], d[n+1:]...)
	}
	return d
}
